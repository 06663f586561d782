#pragma once

#include <cmath>
#include <cstdint>

#include "kernels/host_device.h"

namespace flashcheck {

/// From a raw score s = q.k to the argument of the softmax, in units of ln 2, so that the
/// probability is a power of two: L * s, or, capped, L * tanh(inner * s), and then an ALiBi bias.
/// L = scale * log2(e), or softcap * log2(e) with inner = scale / softcap, both as candle has them
/// (candle-flash-attn/kernels/flash_api.cu:129-138).
///
/// candle adds slope / scale to s and multiplies by L afterwards; here the bias is added to the
/// product, which is the same number rounded elsewhere and needs no scale other than 0.
class Logit {
 public:
  /// softcap <= 0 or NaN: none (the `softcap > 0.0` of flash_api.cu:129).
  FLASHCHECK_HOST_DEVICE Logit(float softmax_scale, float softcap, bool is_causal)
      : is_capped_(softcap > 0.0f),
        is_causal_(is_causal),
        inner_(is_capped_ ? softmax_scale / softcap : 0.0f),
        outer_(in_base_2(is_capped_ ? softcap : softmax_scale)) {}

  FLASHCHECK_HOST_DEVICE bool is_capped() const { return is_capped_; }
  FLASHCHECK_HOST_DEVICE float operator()(float s) const {
    return is_capped_ ? capped(s) : scaled(s);
  }
  /// What operator() is where is_capped() and where not, for loops that have asked before.
  FLASHCHECK_HOST_DEVICE float capped(float s) const { return outer_ * std::tanh(inner_ * s); }
  FLASHCHECK_HOST_DEVICE float scaled(float s) const { return outer_ * s; }

  /// candle's two forms: causal + slope * j, otherwise - slope * |p - j|. They differ by a constant
  /// a row, so out is the same and lse is not. `slope` is in_base_2() of the head's.
  /// Positions are below 2^31.
  FLASHCHECK_HOST_DEVICE float alibi_bias(float slope, int64_t p, int64_t j) const {
    const int64_t distance = is_causal_ ? j : p < j ? p - j : j - p;
    return slope * static_cast<float>(static_cast<int32_t>(distance));
  }

  static constexpr float kLog2E = 1.44269504f;
  FLASHCHECK_HOST_DEVICE static float in_base_2(float natural) {
    return static_cast<float>(static_cast<double>(natural) * 1.4426950408889634);
  }

 private:
  bool is_capped_, is_causal_;
  float inner_, outer_;
};

}  // namespace flashcheck
