#pragma once

#include <cuda_runtime.h>

#include <cmath>
#include <limits>

#include "kernels/cuda/ptx.h"

namespace flashcheck {

/// Over the four lanes that share the rows of an mma accumulator.
__device__ inline float quad_max(float x) {
  x = std::fmax(x, __shfl_xor_sync(0xFFFFFFFFu, x, 1));
  return std::fmax(x, __shfl_xor_sync(0xFFFFFFFFu, x, 2));
}
__device__ inline float quad_sum(float x) {
  x += __shfl_xor_sync(0xFFFFFFFFu, x, 1);
  return x + __shfl_xor_sync(0xFFFFFFFFu, x, 2);
}

/// Over all lanes of a warp.
__device__ inline float warp_max(float x) {
  for (int lanes = 16; lanes > 0; lanes /= 2) {
    x = std::fmax(x, __shfl_xor_sync(0xFFFFFFFFu, x, lanes));
  }
  return x;
}
__device__ inline float warp_sum(float x) {
  for (int lanes = 16; lanes > 0; lanes /= 2) x += __shfl_xor_sync(0xFFFFFFFFu, x, lanes);
  return x;
}

/// The running softmax of one row, in registers: the algebra of kernels/online_softmax.h, with the
/// logits of a tile spread over the four lanes of a quad. `max` is the row's, `sum` this lane's
/// share until finish(). As there, max ignores NaN and sum keeps it, and where max is still -inf, 0
/// stands for it.
struct RowSoftmax {
  float max = -std::numeric_limits<float>::infinity();
  float sum = 0;

  /// What exponents are taken relative to.
  __device__ float base() const {
    return max == -std::numeric_limits<float>::infinity() ? 0.0f : max;
  }

  /// Takes in the row's logits of a tile, x[n][kFirst] and x[n][kFirst + 1] in this lane: they
  /// become 2^(x - max). Returns what the row of O has to be multiplied with.
  template <int kFirst, int kNumTiles>
  __device__ float take_tile(float (&x)[kNumTiles][4]) {
    float tile_max = max;
#pragma unroll
    for (int n = 0; n < kNumTiles; ++n) {
      tile_max = std::fmax(tile_max, std::fmax(x[n][kFirst], x[n][kFirst + 1]));
    }
    const float old_max = max;
    max = quad_max(tile_max);
    const float from = base(), rescale = ptx::ex2_approx(old_max - from);
    sum *= rescale;
#pragma unroll
    for (int n = 0; n < kNumTiles; ++n) {
#pragma unroll
      for (int e = kFirst; e < kFirst + 2; ++e) {
        x[n][e] = ptx::ex2_approx(x[n][e] - from);
        sum += x[n][e];
      }
    }
    return rescale;
  }

  __device__ void finish() { sum = quad_sum(sum); }

  /// What a row of O is multiplied with at the end; see OnlineSoftmax::inverse_sum.
  __device__ float inverse_sum() const { return sum == 0.0f || sum != sum ? 1.0f : 1.0f / sum; }

  /// Natural log; +inf where no key was seen or the sum is NaN.
  __device__ float lse() const {
    if (sum == 0.0f || sum != sum) return std::numeric_limits<float>::infinity();
    return max * 0.693147181f + std::log(sum);
  }
};

}  // namespace flashcheck
