#pragma once

#include <cuda_runtime.h>

#include <cstdint>

#include "kernels/attention_params.h"
#include "kernels/cuda/block_work.h"
#include "kernels/cuda/ptx.h"
#include "kernels/cuda/row_softmax.h"
#include "kernels/cuda/score_tile.h"
#include "kernels/cuda/split_plan.h"
#include "kernels/sequence_extent.h"

namespace flashcheck {

/// Where one (token, head) of a sequence is in out, in lse and among the partial results.
struct OutputRow {
  const AttentionParams& params;
  const SplitPlan& plan;
  const SequenceExtent& extent;
  int64_t sequence, token, head;

  template <typename T>
  __device__ T* out() const {
    const LaunchParams& launch = params.launch;
    return static_cast<T*>(params.out) + extent.out_offset + token * launch.o_row_stride +
           head * launch.o_head_stride;
  }
  __device__ float* lse() const {
    return params.lse + extent.lse_offset + head * extent.lse_head_stride + token;
  }
  /// In partial_o, in rows of d elements.
  __device__ int64_t partial(uint32_t split) const {
    return (split * plan.num_rows + first_row_of(params, sequence) + token) * params.launch.h +
           head;
  }
};

/// The end of a row that saw all its keys: of this lane the columns that a warp's fragments give
/// it. `half` is 0 for c[0] and c[1] of o, 1 for c[2] and c[3]; all lanes of the quad call it.
template <typename T, int kNumTiles>
__device__ void store_row(const OutputRow& row, const float (&o)[kNumTiles][4], int half,
                          const RowSoftmax& softmax, uint32_t part) {
  const int first = static_cast<int>(part) * kNumTiles * 8 + column_in_tile(0);
  const float factor = softmax.inverse_sum();
  T* out = row.out<T>();
#pragma unroll
  for (int n = 0; n < kNumTiles; ++n) {
    const int column = first + n * 8;
    if (column >= static_cast<int>(row.params.launch.d)) continue;
    *reinterpret_cast<uint32_t*>(out + column) =
        ptx::pack<T>(o[n][2 * half] * factor, o[n][2 * half + 1] * factor);
  }
  if (row.params.lse != nullptr && first == 0) *row.lse() = softmax.lse();
}

struct alignas(8) FloatPair {
  float first, second;
};

/// The same of a row that saw the keys of one split: nothing is divided yet.
template <int kNumTiles>
__device__ void store_partial_row(const OutputRow& row, const float (&o)[kNumTiles][4], int half,
                                  const RowSoftmax& softmax, uint32_t part, uint32_t split) {
  const int first = static_cast<int>(part) * kNumTiles * 8 + column_in_tile(0);
  const int64_t d = row.params.launch.d, partial = row.partial(split);
#pragma unroll
  for (int n = 0; n < kNumTiles; ++n) {
    const int column = first + n * 8;
    if (column >= d) continue;
    *reinterpret_cast<FloatPair*>(row.plan.partial_o + partial * d + column) = {o[n][2 * half],
                                                                                o[n][2 * half + 1]};
  }
  if (first != 0) return;
  row.plan.partial_softmax[partial] = {softmax.max, softmax.sum};
}

}  // namespace flashcheck
