#include <doctest/doctest.h>

#include <limits>

#include "src/contract/contract.h"
#include "tests/contract/calls.h"

namespace flashcheck {
namespace {

constexpr auto kQ = TensorName::kQ;
constexpr auto kK = TensorName::kK;
constexpr auto kV = TensorName::kV;
constexpr auto kNone = std::nullopt;

LaunchParams launch(const Case& c) {
  const Outcome outcome = check_contract(c);
  REQUIRE(outcome.launch.has_value());
  return *outcome.launch;
}

struct WindowExample {
  std::optional<int64_t> left, right;
  int64_t max_seqlen_k;
  bool has_ranges;
  int32_t is_causal, left_passed, right_passed;
};

}  // namespace

TEST_CASE("windows as the wrapper passes them") {
  const WindowExample examples[] = {
      {kNone, kNone, 6, false, 0, -1, -1},
      {kNone, 0, 6, false, 1, 6, 0},
      {6, 0, 6, false, 0, 6, 0},
      {7, 0, 6, false, 1, 6, 0},
      {2, kNone, 6, false, 0, 2, 6},
      {kNone, 2, 6, false, 0, 6, 2},
      {2, 9, 6, false, 0, 2, 6},
      {0, 0, 6, false, 0, 0, 0},
      {9, 9, 6, false, 0, -1, -1},
      {kNone, 0, 0, false, 1, 0, 0},
      {kNone, 0, 6, true, 0, 6, 0},
      {1024, 0, 296, true, 0, 296, 0},
      {3, 0, 6, true, 0, 3, 0},
      {kNone, kNone, 6, true, 0, -1, -1},
  };
  for (const WindowExample& example : examples) {
    Case c = example.has_ranges ? paged_ranges_call() : paged_call();
    c.args.window_size_left = example.left;
    c.args.window_size_right = example.right;
    c.args.max_seqlen_k = example.max_seqlen_k;
    const LaunchParams p = launch(c);
    CAPTURE(p.window_size_left);
    CAPTURE(p.window_size_right);
    CAPTURE(example.max_seqlen_k);
    CHECK(p.is_causal == example.is_causal);
    CHECK(p.window_size_left == example.left_passed);
    CHECK(p.window_size_right == example.right_passed);
  }
}

TEST_CASE("the fixed-length functions measure windows by k's rows") {
  Case c = fixed_call(Wrapper::kCandleFlashAttn, "flash_attn_windowed");
  c.args.window_size_left = 7;
  c.args.window_size_right = 6;
  CHECK(launch(c).window_size_left == 6);
  CHECK(launch(c).window_size_right == 6);
  CHECK(launch(c).is_causal == 0);
}

TEST_CASE("a window and a length are cut to 32 bits after they are compared") {
  Case c = varlen_call(Wrapper::kCandleFlashAttn, "flash_attn_varlen_windowed");
  c.args.max_seqlen_k = int64_t{1} << 33;
  c.args.window_size_left = int64_t{1} << 32;
  CHECK(launch(c).window_size_left == 0);
  c.args.window_size_left = std::numeric_limits<uint32_t>::max();
  c.args.window_size_right = 0;
  // It became -1, so the wrapper takes it for no window.
  CHECK(launch(c).is_causal == 1);
  CHECK(launch(c).window_size_left == 0);
  CHECK(launch(c).seqlen_k == 0);
  c.args.max_seqlen_q = std::numeric_limits<int64_t>::max();
  CHECK(launch(c).seqlen_q == std::numeric_limits<uint32_t>::max());
  CHECK(launch(c).seqlen_q_rounded == 0);
}

TEST_CASE("strides lose their high bits") {
  Case c = fixed_call();
  tensor(c, kQ).strides = {(int64_t{1} << 32) + 8, 512, 64, 1};
  tensor(c, kV).strides = {int64_t{1} << 32, 128, 64, 1};
  CHECK(launch(c).q_batch_stride == 8);
  CHECK(launch(c).v_batch_stride == 0);
  CHECK(launch(c).k_batch_stride == 768);
  CHECK(launch(c).o_batch_stride == 2048);
}

TEST_CASE("the output is row-major in q's shape, whatever q's strides") {
  Case c = fixed_call();
  tensor(c, kQ).strides = {4096, 64, 256, 1};  // heads before rows
  const LaunchParams p = launch(c);
  CHECK(p.q_row_stride == 64);
  CHECK(p.q_head_stride == 256);
  CHECK(p.o_row_stride == 512);
  CHECK(p.o_head_stride == 64);
}

TEST_CASE("a paged launch") {
  Case c = paged_ranges_call();
  restride(c, TensorName::kBlockTable, {8, 1});
  restride(c, kK, {8192, 128, 64, 1});
  tensor(c, TensorName::kBlockTable).offset = 2;
  const LaunchParams p = launch(c);
  CHECK(p.block_table_batch_stride == 3);  // its columns, not its stride
  CHECK(p.block_table_offset_bytes == 8);
  CHECK(p.k_batch_stride == 8192);
  CHECK(p.v_batch_stride == 4096);
  CHECK(p.q_batch_stride == 0);
  CHECK(p.page_block_size == 32);
  CHECK(p.mm_prefix_range_batch_stride == 2);
  CHECK(p.max_mm_prefix_ranges == 1);
  CHECK(p.unpadded_lse == 1);
  CHECK(p.b == 2);
  CHECK(p.total_q == 7);
}

TEST_CASE("v3 packs query heads for some group sizes alone") {
  Case c = fixed_call(Wrapper::kCandleFlashAttnV3);
  c.args.use_gqa_packing = true;
  CHECK(launch(c).use_gqa_packing == 1);  // 8 / 2
  reshape(c, kK, {2, 6, 8, 64});
  reshape(c, kV, {2, 6, 8, 64});
  CHECK(launch(c).use_gqa_packing == 0);
  reshape(c, kQ, {2, 4, 24, 64});
  CHECK(launch(c).use_gqa_packing == 0);  // 3
  CHECK(launch(c).total_q == 0);
  CHECK(launch(c).total_k == 0);
}

TEST_CASE("softcap is passed as it is given") {
  Case c = paged_call();
  CHECK(launch(c).softcap == 0);
  c.args.softcap = -30.0f;
  CHECK(launch(c).softcap == -30.0f);
}

TEST_CASE("without a wrapper nothing is filtered, and strides are the true ones") {
  Case c = paged_call(Wrapper::kNone);
  restride(c, TensorName::kBlockTable, {8, 1});
  c.args.window_size_left = 1000;
  LaunchParams p = launch(c);
  CHECK(p.block_table_batch_stride == 8);
  CHECK(p.window_size_left == 1000);
  CHECK(p.window_size_right == -1);
  CHECK(p.is_causal == 0);
  c.args.window_size_left = int64_t{1} << 40;
  c.args.window_size_right = 0;
  p = launch(c);
  CHECK(p.window_size_left == std::numeric_limits<int32_t>::max());
  CHECK(p.is_causal == 0);
  c.args.window_size_left.reset();
  p = launch(c);
  CHECK(p.window_size_left == -1);
  CHECK(p.is_causal == 1);
}

TEST_CASE("without a wrapper f32, odd page sizes and any device will do") {
  Case c = paged_call(Wrapper::kNone);
  for (const auto name : {kQ, kK, kV}) {
    tensor(c, name).dtype = Dtype::kF32;
    tensor(c, name).device = kCpu;
  }
  reshape(c, kK, {5, 17, 2, 64});
  reshape(c, kV, {5, 17, 2, 64});
  c.args.page_block_size = 17;
  CHECK(launch(c).page_block_size == 17);
}

}  // namespace flashcheck
