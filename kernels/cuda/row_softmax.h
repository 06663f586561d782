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

/// The running softmax of one row, in registers: the algebra of kernels/online_softmax.h, with the
/// logits of a tile spread over the four lanes of a quad. `max` is the row's, `sum` this lane's
/// share until finish(). As there, max ignores NaN and sum keeps it, and where max is still -inf, 0
/// stands for it.
struct RowSoftmax {
  float max = -std::numeric_limits<float>::infinity();
  float sum = 0;

  /// Takes in the row's logits of a tile, x[n][kFirst] and x[n][kFirst + 1] in this lane: they
  /// become 2^(x - max). Returns what the row of O has to be multiplied with.
  template <int kFirst, int kNumTiles>
  __device__ float take_tile(float (&x)[kNumTiles][4]) {
    float tile_max = max;
#pragma unroll
    for (int n = 0; n < kNumTiles; ++n) {
      tile_max = std::fmax(tile_max, std::fmax(x[n][kFirst], x[n][kFirst + 1]));
    }
    const float new_max = quad_max(tile_max);
    const float base = new_max == -std::numeric_limits<float>::infinity() ? 0.0f : new_max;
    const float rescale = ptx::ex2_approx(max - base);
    max = new_max;
    sum *= rescale;
#pragma unroll
    for (int n = 0; n < kNumTiles; ++n) {
#pragma unroll
      for (int e = kFirst; e < kFirst + 2; ++e) {
        x[n][e] = ptx::ex2_approx(x[n][e] - base);
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
    constexpr double kLn2 = 0.69314718055994531;
    return static_cast<float>(max * kLn2 + std::log(static_cast<double>(sum)));
  }
};

}  // namespace flashcheck
