#pragma once

#include <cuda_runtime.h>

#include <cmath>
#include <cstdint>

#include "kernels/attention_params.h"
#include "kernels/cuda/output_row.h"
#include "kernels/cuda/ptx.h"
#include "kernels/cuda/row_softmax.h"
#include "kernels/cuda/split_plan.h"
#include "kernels/half.h"
#include "kernels/sequence_extent.h"

namespace flashcheck {

/// Four columns of a row of partial_o.
struct alignas(16) PartialChunk {
  float o[4];
};

/// From what the splits of a row left to the row: with m = max_s m_s,
///   O = sum_s O_s 2^(m_s - m), l = sum_s l_s 2^(m_s - m), then as if there had been no split.
/// Lane s % 32 looks after split s; O is added up over ascending s, l in the order of a fixed tree.
/// A block takes kCombineWarps rows of a sequence, which are numbered token-major, head-minor.
template <typename T>
__global__ void __launch_bounds__(32 * kCombineWarps, 4)
    combine_splits(const __grid_constant__ AttentionParams params,
                   const __grid_constant__ SplitPlan plan, uint32_t blocks_per_sequence) {
  constexpr int kSplitsALane = kMaxSplits / 32;
  const uint32_t h = params.launch.h, d = params.launch.d, lane = threadIdx.x % 32;
  const int64_t sequence = blockIdx.x / blocks_per_sequence;
  const uint32_t n = blockIdx.x % blocks_per_sequence * kCombineWarps + threadIdx.x / 32;
  const SequenceExtent extent = sequence_extent(params, sequence);
  if (n >= extent.seqlen_q * h) return;
  const OutputRow row{params, plan, extent, sequence, n / h, n % h};

  RowSoftmax of_split[kSplitsALane], softmax;
  for (uint32_t i = 0; i < kSplitsALane; ++i) {
    const uint32_t s = lane + 32 * i;
    if (s < plan.num_splits) {
      const PartialSoftmax& left = plan.partial_softmax[row.partial(s)];
      of_split[i].max = left.max;
      of_split[i].sum = left.sum;
    }
    softmax.max = std::fmax(softmax.max, of_split[i].max);
  }
  softmax.max = warp_max(softmax.max);
  float rescale[kSplitsALane];
  for (int i = 0; i < kSplitsALane; ++i) {
    rescale[i] = ptx::ex2_approx(of_split[i].max - softmax.base());
    softmax.sum += of_split[i].sum * rescale[i];
  }
  softmax.sum = warp_sum(softmax.sum);

  const float factor = softmax.inverse_sum();
  const int64_t chunks = d / 4, first = row.partial(0) * chunks;
  const int64_t stride = plan.num_rows * h * chunks;  // from split to split
  const auto* partial_o = reinterpret_cast<const PartialChunk*>(plan.partial_o) + first;
  for (uint32_t c = lane; c - lane < chunks; c += 32) {  // the same for all lanes: they meet below
    PartialChunk sum = {};
#pragma unroll
    for (uint32_t i = 0; i < kSplitsALane; ++i) {
#pragma unroll 8
      for (uint32_t l = 0; l < 32 && 32 * i + l < plan.num_splits; ++l) {
        const float weight = __shfl_sync(0xFFFFFFFFu, rescale[i], static_cast<int>(l));
        if (c >= chunks) continue;
        const PartialChunk chunk = partial_o[(32 * i + l) * stride + c];
        for (int e = 0; e < 4; ++e) sum.o[e] += chunk.o[e] * weight;
      }
    }
    for (int e = 0; e < 4 && c < chunks; ++e) {
      row.out<T>()[4 * c + static_cast<uint32_t>(e)] = from_float<T>(sum.o[e] * factor);
    }
  }
  if (params.lse != nullptr && lane == 0) *row.lse() = softmax.lse();
}

}  // namespace flashcheck
