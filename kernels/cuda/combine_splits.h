#pragma once

#include <cuda_runtime.h>

#include <cstdint>

#include "kernels/attention_params.h"
#include "kernels/cuda/output_row.h"
#include "kernels/cuda/ptx.h"
#include "kernels/cuda/row_softmax.h"
#include "kernels/cuda/split_plan.h"
#include "kernels/sequence_extent.h"

namespace flashcheck {

/// From what the splits of a row left to the row: with m = max_s m_s,
///   O = sum_s O_s 2^(m_s - m), l = sum_s l_s 2^(m_s - m), then as if there had been no split.
/// The sums are over ascending s. A block takes kCombineWarps rows of a sequence, which are
/// numbered token-major, head-minor.
template <typename T>
__global__ void __launch_bounds__(32 * kCombineWarps)
    combine_splits(const __grid_constant__ AttentionParams params,
                   const __grid_constant__ SplitPlan plan, uint32_t blocks_per_sequence) {
  const LaunchParams& launch = params.launch;
  const int64_t sequence = blockIdx.x / blocks_per_sequence;
  const int64_t n = int64_t{blockIdx.x % blocks_per_sequence} * kCombineWarps + threadIdx.x / 32;
  const SequenceExtent extent = sequence_extent(params, sequence);
  if (n >= extent.seqlen_q * launch.h) return;
  const OutputRow row{params, plan, extent, sequence, n / launch.h, n % launch.h};

  RowSoftmax softmax;
  for (uint32_t s = 0; s < plan.num_splits; ++s) {
    softmax.max = std::fmax(softmax.max, plan.partial_softmax[2 * row.partial(s)]);
  }
  const float base = softmax.max == -std::numeric_limits<float>::infinity() ? 0.0f : softmax.max;
  for (uint32_t s = 0; s < plan.num_splits; ++s) {
    const float* of_split = plan.partial_softmax + 2 * row.partial(s);
    softmax.sum += of_split[1] * ptx::ex2_approx(of_split[0] - base);
  }
  const float factor = softmax.inverse_sum();
  for (uint32_t c = threadIdx.x % 32; c < launch.d; c += 32) {
    float o = 0;
    for (uint32_t s = 0; s < plan.num_splits; ++s) {
      const int64_t partial = row.partial(s);
      const float rescale = ptx::ex2_approx(plan.partial_softmax[2 * partial] - base);
      o += plan.partial_o[partial * launch.d + c] * rescale;
    }
    row.out<T>()[c] = from_float<T>(o * factor);
  }
  if (params.lse != nullptr && threadIdx.x % 32 == 0) *row.lse() = softmax.lse();
}

}  // namespace flashcheck
