#pragma once

#include <cmath>
#include <cstdint>
#include <limits>

#include "kernels/exp2.h"
#include "kernels/host_device.h"

namespace flashcheck {

/// The running softmax of kRows query rows that see their keys tile by tile. With x the logits in
/// base 2 (Logit), after any number of tiles: max = max_j x_j over the keys so far and
/// sum = sum_j 2^(x_j - max), so that a row of O is (sum_j 2^(x_j - max) v_j) / sum whatever the
/// tiling was. Masked logits are -inf.
///
/// As in candle (kernels/softmax.h:75-88, 136-182): where max is still -inf, 0 stands for it, or
/// the exponent would be -inf - -inf; max ignores NaN, sum keeps it.
template <int kRows>
struct OnlineSoftmax {
  float max[kRows];
  float sum[kRows];

  FLASHCHECK_HOST_DEVICE void reset() {
    for (int r = 0; r < kRows; ++r) max[r] = -std::numeric_limits<float>::infinity();
    for (int r = 0; r < kRows; ++r) sum[r] = 0;
  }

  /// Takes in a tile: x[num_keys][kRows] becomes P, unrounded, and rescale[row] what the row of O
  /// has to be multiplied with first. Of the rows the first num_rows are looked at. Returns whether
  /// any rescale is not 1.
  FLASHCHECK_HOST_DEVICE bool take_tile(float* x, int num_keys, int num_rows, float* rescale) {
    float base[kRows];
    for (int r = 0; r < num_rows; ++r) base[r] = max[r];
    for (int j = 0; j < num_keys; ++j) {
      const float* row = x + j * kRows;
      for (int r = 0; r < num_rows; ++r) base[r] = row[r] > base[r] ? row[r] : base[r];
    }
    bool any = false;
    for (int r = 0; r < num_rows; ++r) {
      const float new_max = base[r];
      base[r] = new_max == -std::numeric_limits<float>::infinity() ? 0.0f : new_max;
      rescale[r] = exp2_nonpositive(max[r] - base[r]);
      any |= rescale[r] != 1.0f;
      max[r] = new_max;
      sum[r] *= rescale[r];
    }
    for (int j = 0; j < num_keys; ++j) {
      float* row = x + j * kRows;
      for (int r = 0; r < num_rows; ++r) {
        const float p = exp2_nonpositive(row[r] - base[r]);
        sum[r] += p;
        row[r] = p;
      }
    }
    return any;
  }

  /// What a row of O is multiplied with at the end: 1 where no key was seen (O is 0 then) or the
  /// sum is NaN.
  FLASHCHECK_HOST_DEVICE float inverse_sum(int r) const {
    return sum[r] == 0.0f || sum[r] != sum[r] ? 1.0f : 1.0f / sum[r];
  }

  /// ln sum_j e^(logit_j); +inf where no key was seen or the sum is NaN.
  FLASHCHECK_HOST_DEVICE float lse(int r) const {
    if (sum[r] == 0.0f || sum[r] != sum[r]) return std::numeric_limits<float>::infinity();
    constexpr double kLn2 = 0.69314718055994531;
    return static_cast<float>(max[r] * kLn2 + std::log(static_cast<double>(sum[r])));
  }
};

}  // namespace flashcheck
