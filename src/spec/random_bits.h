#pragma once

#include <cstdint>

namespace flashcheck {

/// The nth 64 random bits of a seed's stream: SplitMix64 (Steele, Lea, Flood, OOPSLA 2014) entered
/// at its nth state. Any n can be asked for alone, and every machine answers the same.
constexpr uint64_t random_bits(uint64_t seed, uint64_t n) {
  uint64_t z = seed + (n + 1) * 0x9E3779B97F4A7C15u;
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
  return z ^ (z >> 31);
}

}  // namespace flashcheck
