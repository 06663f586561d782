#pragma once

#include <bit>
#include <cstdint>

#include "kernels/host_device.h"

namespace flashcheck {

/// 2^x for x <= 0, in a form that vectorises. The relative error is below 2^-23 on [-126, 0]
/// (2^-23.3 was measured over all its floats), and integers are exact, so that a row's largest
/// probability is exactly 1. Below -126, where the result would be subnormal, it is 0: beside that
/// 1 no sum can see the difference. NaN gives NaN.
FLASHCHECK_HOST_DEVICE inline float exp2_nonpositive(float x) {
  // x = n + f, n an integer, |f| <= 0.5: beside 1.5 * 2^23 a float has no fraction bits left.
  constexpr float kRound = 0x1.8p23f;
  const float shifted = x + kRound;
  const float f = x - (shifted - kRound);
  // (2^f - 1) / f, interpolated at the six Chebyshev nodes of [-0.5, 0.5]; within 2^-27.
  float p = 0x1.44138ap-13f;
  p = p * f + 0x1.5f0890p-10f;
  p = p * f + 0x1.3b2a54p-7f;
  p = p * f + 0x1.c6af6cp-5f;
  p = p * f + 0x1.ebfbe0p-3f;
  p = p * f + 0x1.62e430p-1f;
  p = p * f + 1.0f;
  // A product, because adding n to p's exponent field could turn a NaN into a number.
  const uint32_t n = std::bit_cast<uint32_t>(shifted) - std::bit_cast<uint32_t>(kRound);
  const float result = p * std::bit_cast<float>((n + 127u) << 23);
  const uint32_t keep = 0u - static_cast<uint32_t>(!(x < -126.0f));  // not a branch: see select()
  return std::bit_cast<float>(std::bit_cast<uint32_t>(result) & keep);
}

}  // namespace flashcheck
