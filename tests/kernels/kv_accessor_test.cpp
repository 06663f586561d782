#include "kernels/kv_accessor.h"

#include <doctest/doctest.h>

#include <vector>

#include "kernels/sequence_extent.h"

using namespace flashcheck;

TEST_CASE("unpaged rows are a stride apart") {
  const std::vector<float> elements(100);
  const KvAccessor<float> rows{.first = elements.data() + 5, .row_stride = 9};
  CHECK(rows.row(0) - elements.data() == 5);
  CHECK(rows.row(10) - elements.data() == 95);
}

TEST_CASE("a page of any size is followed through the table") {
  const std::vector<float> elements(1000);
  const std::vector<int32_t> table = {4, 0, 2};
  const KvAccessor<float> rows{.first = elements.data(),
                               .row_stride = 10,
                               .block_table = table.data(),
                               .page_stride = 100,
                               .page_block_size = 3};
  const int64_t expected[] = {400, 410, 420, 0, 10, 20, 200, 210};
  for (int64_t j = 0; j < 8; ++j) CHECK(rows.row(j) - elements.data() == expected[j]);
}

TEST_CASE("K and V are found by their own strides, in 64 bits") {
  const std::vector<int32_t> table = {0, 0, 0, 5};
  AttentionParams params;
  params.block_table = table.data();
  LaunchParams& launch = params.launch;
  launch.block_table_batch_stride = 2;
  launch.page_block_size = 32;
  launch.k_batch_stride = 4'000'000'000u;
  launch.k_row_stride = 3'000'000'000u;
  launch.k_head_stride = 2'000'000'000u;
  launch.v_batch_stride = 7;
  launch.v_row_stride = 5;
  launch.v_head_stride = 3;
  // Distances from a null pointer would be undefined: the offsets are compared as fields.
  const KvAccessor<uint8_t> k = key_rows<uint8_t>(params, 1, 0, {});
  CHECK(k.block_table == table.data() + 2);
  CHECK(k.page_stride == 4'000'000'000);
  CHECK(k.row_stride == 3'000'000'000);
  const KvAccessor<uint8_t> v = value_rows<uint8_t>(params, 1, 0, {});
  CHECK(v.page_stride == 7);
  CHECK(v.row_stride == 5);
  CHECK(v.page_block_size == 32);
}

TEST_CASE("lengths and offsets of a sequence, fixed length") {
  AttentionParams params;
  LaunchParams& launch = params.launch;
  launch.h = 3;
  launch.seqlen_q = 5;
  launch.seqlen_k = 8;
  launch.q_batch_stride = launch.o_batch_stride = 4'000'000'000u;
  launch.k_batch_stride = 3'000'000'000u;
  launch.v_batch_stride = 11;
  const SequenceExtent extent = sequence_extent(params, 2);
  CHECK(extent.seqlen_q == 5);
  CHECK(extent.seqlen_k == 8);
  CHECK(extent.q_offset == 8'000'000'000);
  CHECK(extent.out_offset == 8'000'000'000);
  CHECK(extent.k_offset == 6'000'000'000);
  CHECK(extent.v_offset == 22);
  CHECK(extent.lse_offset == 2 * 3 * 5);
  CHECK(extent.lse_head_stride == 5);
  CHECK(extent.position(0) == 3);
}

TEST_CASE("lengths and offsets of a sequence, by tables") {
  const std::vector<int32_t> cu_q = {1, 4, 6}, cu_k = {2, 9, 5};
  AttentionParams params;
  params.cu_seqlens_q = cu_q.data();
  params.cu_seqlens_k = cu_k.data();
  LaunchParams& launch = params.launch;
  launch.q_row_stride = 10;
  launch.o_row_stride = 20;
  launch.k_row_stride = 30;
  launch.v_row_stride = 40;
  launch.total_q = 7;
  launch.unpadded_lse = 1;
  const SequenceExtent first = sequence_extent(params, 0);
  CHECK(first.seqlen_q == 3);
  CHECK(first.seqlen_k == 7);
  CHECK(first.q_offset == 10);
  CHECK(first.out_offset == 20);
  CHECK(first.k_offset == 60);
  CHECK(first.v_offset == 80);
  CHECK(first.lse_offset == 1);
  CHECK(first.lse_head_stride == 7);
  CHECK(sequence_extent(params, 1).seqlen_k == 0);  // a table that decreases
  const std::vector<int32_t> table(4);
  params.block_table = table.data();
  CHECK(sequence_extent(params, 0).k_offset == 0);
}

TEST_CASE("the mask of a launch") {
  const std::vector<int32_t> ranges(8), table(4);
  AttentionParams params;
  LaunchParams& launch = params.launch;
  launch.window_size_left = 3;
  launch.window_size_right = 0;
  launch.is_causal = 1;
  const SequenceExtent extent{.seqlen_q = 4, .seqlen_k = 100};
  SUBCASE("causal has no left end, whatever left says") {
    const Mask mask = sequence_mask(params, 0, extent);
    CHECK(mask.num_keys == 100);
    CHECK(mask.left < 0);
    CHECK(mask.right == 0);
  }
  SUBCASE("paged keys end with the last 32 that max_seqlen_k reaches") {
    launch.seqlen_k = 33;
    CHECK(sequence_mask(params, 0, extent).num_keys == 100);
    params.block_table = table.data();
    CHECK(sequence_mask(params, 0, extent).num_keys == 64);
    launch.seqlen_k = 97;
    CHECK(sequence_mask(params, 0, extent).num_keys == 100);
    launch.seqlen_k = 4'294'967'295u;
    CHECK(sequence_mask(params, 0, extent).num_keys == 100);
    launch.seqlen_k = 0;
    CHECK(sequence_mask(params, 0, extent).num_keys == 0);
    launch.wrapper = Wrapper::kNone;
    CHECK(sequence_mask(params, 0, extent).num_keys == 100);
  }
  SUBCASE("ranges count where something is hidden") {
    params.mm_prefix_ranges = ranges.data();
    launch.mm_prefix_range_batch_stride = 4;
    launch.max_mm_prefix_ranges = 2;
    const Mask mask = sequence_mask(params, 1, extent);
    CHECK(mask.ranges == ranges.data() + 4);
    CHECK(mask.num_ranges == 2);
    launch.is_causal = 0;
    launch.window_size_left = launch.window_size_right = -1;
    CHECK(sequence_mask(params, 1, extent).num_ranges == 0);
  }
}
