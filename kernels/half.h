#pragma once

#include <bit>
#include <cstdint>

#include "kernels/host_device.h"

namespace flashcheck {

/// The 16-bit types as a kernel reads them from memory. Conversions are free of branches, so that a
/// loop over them vectorises; towards 16 bits they round to nearest, ties to even.
struct Half {
  uint16_t bits = 0;
};
struct BFloat16 {
  uint16_t bits = 0;
};

/// `a` or `b`, written so that no compiler makes a branch of it.
FLASHCHECK_HOST_DEVICE inline uint32_t select(bool condition, uint32_t a, uint32_t b) {
  const uint32_t mask = 0u - static_cast<uint32_t>(condition);
  return (a & mask) | (b & ~mask);
}

FLASHCHECK_HOST_DEVICE inline float to_float(float value) { return value; }

FLASHCHECK_HOST_DEVICE inline float to_float(BFloat16 value) {
  return std::bit_cast<float>(uint32_t{value.bits} << 16);
}

FLASHCHECK_HOST_DEVICE inline float to_float(Half value) {
  const uint32_t sign = (uint32_t{value.bits} & 0x8000u) << 16;
  const uint32_t magnitude = (uint32_t{value.bits} & 0x7FFFu) << 13;
  constexpr uint32_t kBias = 112u << 23;  // f32's exponent bias less f16's, in place
  const uint32_t normal = magnitude + kBias;
  // 2^-14 * (1 + fraction) - 2^-14: exact, and no operand is an f32 subnormal, which would be slow.
  const uint32_t subnormal =
      std::bit_cast<uint32_t>(std::bit_cast<float>(normal + (1u << 23)) - 0x1p-14f);
  const uint32_t finite = select(magnitude < (1u << 23), subnormal, normal);
  return std::bit_cast<float>(sign | select(magnitude < (31u << 23), finite, normal + kBias));
}

template <typename T>
FLASHCHECK_HOST_DEVICE inline T from_float(float value);

template <>
FLASHCHECK_HOST_DEVICE inline float from_float<float>(float value) {
  return value;
}

template <>
FLASHCHECK_HOST_DEVICE inline BFloat16 from_float<BFloat16>(float value) {
  const uint32_t bits = std::bit_cast<uint32_t>(value);
  const uint32_t rounded = (bits + 0x7FFFu + ((bits >> 16) & 1u)) >> 16;
  const uint32_t quiet_nan = (bits >> 16) | 0x40u;
  const bool is_nan = (bits & 0x7FFFFFFFu) > 0x7F800000u;
  return {static_cast<uint16_t>(select(is_nan, quiet_nan, rounded))};
}

template <>
FLASHCHECK_HOST_DEVICE inline Half from_float<Half>(float value) {
  const uint32_t bits = std::bit_cast<uint32_t>(value);
  const uint32_t sign = (bits >> 16) & 0x8000u;
  const uint32_t magnitude = bits & 0x7FFFFFFFu;
  const uint32_t normal = ((magnitude + 0xFFFu + ((magnitude >> 13) & 1u)) >> 13) - (112u << 10);
  // The unit in the last place of 0.5 is f16's smallest subnormal: the addition rounds to it.
  const uint32_t subnormal =
      std::bit_cast<uint32_t>(std::bit_cast<float>(magnitude) + 0.5f) - 0x3F000000u;
  uint32_t result = select(magnitude < 0x38800000u, subnormal, normal);  // below 2^-14
  result = select(magnitude >= 0x477FF000u, 0x7C00u, result);            // from 65520: infinity
  result = select(magnitude > 0x7F800000u, 0x7E00u, result);
  return {static_cast<uint16_t>(sign | result)};
}

/// `value` rounded to what a T can hold, as a float.
template <typename T>
FLASHCHECK_HOST_DEVICE inline float round_to(float value) {
  return to_float(from_float<T>(value));
}

}  // namespace flashcheck
