#pragma once

#include <cuda_runtime.h>

#include <cstdint>
#include <limits>

#include "kernels/cuda/query_rows.h"
#include "kernels/logit.h"
#include "kernels/mask.h"

namespace flashcheck {

/// Where an element of an m16n8 accumulator is: c[e] of this lane is row row_in_tile(e), column
/// column_in_tile(e).
__device__ inline int row_in_tile(int e) {
  return static_cast<int>(threadIdx.x % 32 / 4) + (e < 2 ? 0 : 8);
}
__device__ inline int column_in_tile(int e) {
  return static_cast<int>(threadIdx.x % 4 * 2) + e % 2;
}

/// x, cut to 0 to `most`.
__device__ inline int clamped(int64_t x, int most) {
  return x < 0 ? 0 : x < most ? static_cast<int>(x) : most;
}

/// Scores of 16 query rows and the keys from first_key on become arguments of the softmax in base
/// 2: scaled or capped, biased, and -inf where is_masked says that the mask has to be asked and it
/// hides the pair. `row` is the first row; `slopes` is [h], or null.
template <int kNumTiles>
__device__ void scores_to_logits(float (&s)[kNumTiles][4], const Logit& logit, const Mask& mask,
                                 const float* slopes, const QueryRows& rows, int row,
                                 int64_t first_key, bool is_masked) {
  if (logit.is_capped()) {
#pragma unroll
    for (int n = 0; n < kNumTiles; ++n) {
#pragma unroll
      for (int e = 0; e < 4; ++e) s[n][e] = logit.capped(s[n][e]);
    }
  } else {
#pragma unroll
    for (int n = 0; n < kNumTiles; ++n) {
#pragma unroll
      for (int e = 0; e < 4; ++e) s[n][e] = logit.scaled(s[n][e]);
    }
  }
  if (slopes == nullptr && !is_masked) return;
#pragma unroll
  for (int half = 0; half < 4; half += 2) {
    const int r = row + row_in_tile(half);
    const int64_t p = rows.p(r);
    const float slope = slopes != nullptr ? slopes[rows.head(r)] * Logit::kLog2E : 0.0f;
    const KeyRange window = mask.window(p);
    const int begin = clamped(window.begin - first_key, kNumTiles * 8);
    const int end = clamped(window.end - first_key, kNumTiles * 8);
#pragma unroll
    for (int n = 0; n < kNumTiles; ++n) {
#pragma unroll
      for (int e = half; e < half + 2; ++e) {
        const int key = n * 8 + column_in_tile(e);
        if (slopes != nullptr) s[n][e] += logit.alibi_bias(slope, p, first_key + key);
        if (!is_masked || (begin <= key && key < end)) continue;
        if (mask.num_ranges > 0 && mask.range_shows(p, first_key + key)) continue;
        s[n][e] = -std::numeric_limits<float>::infinity();
      }
    }
  }
}

}  // namespace flashcheck
