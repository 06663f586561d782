#include "tests/gpu/bench_inputs.h"

#include <cuda_runtime_api.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>

#include "kernels/cuda/check_cuda.h"
#include "tests/gpu/random_fill.h"

namespace flashcheck::bench {
namespace {

constexpr int64_t kCachesOver = 4;  // how many times the L2's size lies between two uses of a copy

DeviceBuffer random_elements(int64_t num_elements, uint64_t seed) {
  DeviceBuffer buffer(2 * num_elements);
  fill_with_normals(reinterpret_cast<Half*>(buffer.begin()), num_elements, seed);
  return buffer;
}

DeviceBuffer on_device(const std::vector<int32_t>& values) {
  DeviceBuffer buffer(static_cast<int64_t>(4 * values.size()));
  check_cuda(cudaMemcpy(buffer.begin(), values.data(), 4 * values.size(), cudaMemcpyHostToDevice),
             "cudaMemcpy");
  return buffer;
}

std::vector<int32_t> cumulative(int64_t batch_size, int64_t length) {
  std::vector<int32_t> sums;
  for (int64_t b = 0; b <= batch_size; ++b) sums.push_back(static_cast<int32_t>(b * length));
  return sums;
}

std::vector<int32_t> shuffled_pages(int64_t num_pages) {
  std::vector<int32_t> pages(static_cast<size_t>(num_pages));
  std::iota(pages.begin(), pages.end(), 0);
  std::ranges::shuffle(pages, std::mt19937(1));
  return pages;
}

}  // namespace

int64_t BenchInputs::copy_bytes(const BenchShape& shape) {
  const int64_t q = shape.batch_size * shape.seqlen_q * shape.num_heads * shape.head_dim;
  return 2 * q + static_cast<int64_t>(shape.kv_bytes());
}

BenchInputs::BenchInputs(const BenchShape& shape, int64_t l2_bytes, const DeviceSize& device)
    : shape_(shape) {
  num_copies_ = 1 + kCachesOver * l2_bytes / copy_bytes(shape);
  const int64_t num_rows = shape.batch_size * shape.seqlen_q * shape.num_heads;
  q_elements_ = num_rows * shape.head_dim;
  int64_t rows_a_sequence = shape.seqlen_k;
  const std::vector<int32_t> cu_q = cumulative(shape.batch_size, shape.seqlen_q);
  const std::vector<int32_t> cu_k = cumulative(shape.batch_size, shape.seqlen_k);
  if (shape.page_block_size > 0) {
    pages_a_sequence_ = (shape.seqlen_k + shape.page_block_size - 1) / shape.page_block_size;
    rows_a_sequence = pages_a_sequence_ * shape.page_block_size;
    block_table_ = on_device(shuffled_pages(shape.batch_size * pages_a_sequence_));
    cu_seqlens_q_ = on_device(cu_q);
    cu_seqlens_k_ = on_device(cu_k);
  }
  kv_elements_ = shape.batch_size * rows_a_sequence * shape.num_heads_k * shape.head_dim;
  q_ = random_elements(num_copies_ * q_elements_, /*seed=*/1);
  k_ = random_elements(num_copies_ * kv_elements_, /*seed=*/2);
  v_ = random_elements(num_copies_ * kv_elements_, /*seed=*/3);
  out_ = DeviceBuffer(2 * q_elements_);
  lse_ = DeviceBuffer(4 * num_rows);
  check_cuda(cudaMemset(out_.begin(), 0xFF, static_cast<size_t>(2 * q_elements_)), "cudaMemset");

  AttentionParams on_host = scalars();  // a plan reads the lengths
  if (shape.page_block_size > 0) {
    on_host.cu_seqlens_q = cu_q.data();
    on_host.cu_seqlens_k = cu_k.data();
  }
  plan_ = plan_launch(on_host, device);
  partial_o_ = DeviceBuffer(4 * plan_.num_partial_o);
  partial_softmax_ = DeviceBuffer(int64_t{sizeof(PartialSoftmax)} * plan_.num_partial_softmax);
  plan_.splits.partial_o = reinterpret_cast<float*>(partial_o_.begin());
  plan_.splits.partial_softmax = reinterpret_cast<PartialSoftmax*>(partial_softmax_.begin());
}

AttentionParams BenchInputs::params(int64_t copy) const {
  AttentionParams params = scalars();
  params.q = q_.begin() + 2 * copy * q_elements_;
  params.k = k_.begin() + 2 * copy * kv_elements_;
  params.v = v_.begin() + 2 * copy * kv_elements_;
  params.out = out_.begin();
  params.lse = reinterpret_cast<float*>(lse_.begin());
  params.cu_seqlens_q = reinterpret_cast<const int32_t*>(cu_seqlens_q_.begin());
  params.cu_seqlens_k = reinterpret_cast<const int32_t*>(cu_seqlens_k_.begin());
  params.block_table = reinterpret_cast<const int32_t*>(block_table_.begin());
  return params;
}

AttentionParams BenchInputs::scalars() const {
  const auto u32 = [](int64_t value) { return static_cast<uint32_t>(value); };
  const bool is_paged = shape_.page_block_size > 0;
  AttentionParams params;
  params.dtype = Dtype::kF16;
  LaunchParams& launch = params.launch;
  launch.q_head_stride = launch.k_head_stride = launch.v_head_stride = launch.o_head_stride =
      u32(shape_.head_dim);
  launch.q_row_stride = launch.o_row_stride = u32(shape_.num_heads * shape_.head_dim);
  launch.k_row_stride = launch.v_row_stride = u32(shape_.num_heads_k * shape_.head_dim);
  if (!is_paged) launch.q_batch_stride = u32(shape_.seqlen_q * launch.q_row_stride);
  launch.o_batch_stride = launch.q_batch_stride;
  launch.k_batch_stride = launch.v_batch_stride =
      u32((is_paged ? shape_.page_block_size : shape_.seqlen_k) * launch.k_row_stride);
  launch.b = u32(shape_.batch_size);
  launch.h = u32(shape_.num_heads);
  launch.h_k = u32(shape_.num_heads_k);
  launch.d = u32(shape_.head_dim);
  launch.softmax_scale = 1 / std::sqrt(static_cast<float>(shape_.head_dim));
  launch.seqlen_q = u32(shape_.seqlen_q);
  launch.seqlen_k = u32(shape_.seqlen_k);
  launch.total_q = u32(shape_.batch_size * shape_.seqlen_q);
  launch.is_causal = shape_.is_causal ? 1 : 0;
  launch.unpadded_lse = is_paged ? 1 : 0;
  launch.page_block_size = static_cast<int32_t>(shape_.page_block_size);
  launch.block_table_batch_stride = u32(pages_a_sequence_);
  return params;
}

}  // namespace flashcheck::bench
