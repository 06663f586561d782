#include "src/inputs/fill.h"

#include <array>
#include <cmath>

#include "src/spec/random_bits.h"
#include "src/spec/tensor.h"

namespace flashcheck {
namespace {

/// A real number in [0, 8) times 2^32.
constexpr int64_t fixed32(double value) { return static_cast<int64_t>(value * 4294967296.0); }

// Teichroew's odd polynomial, the highest power first: 9, 7, 5, 3, 1.
constexpr std::array<int64_t, 5> kPolynomial{fixed32(0.029899776), fixed32(0.008355968),
                                             fixed32(0.076542912), fixed32(0.252408784),
                                             fixed32(3.949846138)};

double uniform_unit(uint64_t seed, uint64_t n) {
  return static_cast<double>(random_bits(seed, n) >> 11) * 0x1p-53;
}

double ramp(const Fill& fill, Dtype dtype, int64_t n) {
  const int64_t reduced = fill.modulo > 0 ? n % fill.modulo : n;
  const double value = std::fma(fill.step, static_cast<double>(reduced), fill.start) / fill.divide;
  if (fill.multiply == 1) return value;
  return round_to(dtype, value) * round_to(dtype, fill.multiply);
}

}  // namespace

double standard_normal(uint64_t seed, uint64_t n) {
  int64_t sum = 0;  // of twelve uniform numbers in [0, 65535]
  for (uint64_t i = 0; i < 3; ++i) {
    constexpr uint64_t kEven = 0x0000FFFF0000FFFF;
    const uint64_t bits = random_bits(seed, 3 * n + i);
    const uint64_t pairs = (bits & kEven) + ((bits >> 16) & kEven);  // two sums of two numbers
    sum += static_cast<int64_t>((pairs & 0xFFFFFFFF) + (pairs >> 32));
  }
  const int64_t t = 2 * sum - 12 * 65535;  // R = t / 2^19: a quarter of the centred sum, |R| < 1.5
  const int64_t r_squared = t * t >> 14;   // R^2 * 2^24
  int64_t polynomial = 0;                  // of R^2, times 2^32: below 2^35
  for (const int64_t coefficient : kPolynomial) {
    polynomial = (polynomial * r_squared >> 24) + coefficient;
  }
  return static_cast<double>(polynomial * t >> 19) * 0x1p-32;
}

double fill_element(const Fill& fill, Dtype dtype, int64_t n) {
  const auto index = static_cast<uint64_t>(n);
  switch (fill.generator) {
    case Fill::Generator::kNormal:
      return std::fma(fill.std, standard_normal(fill.seed, index), fill.mean);
    case Fill::Generator::kUniform:
      return std::fma(fill.high - fill.low, uniform_unit(fill.seed, index), fill.low);
    case Fill::Generator::kConstant:
      return fill.value;
    case Fill::Generator::kRamp:
      return ramp(fill, dtype, n);
  }
  return 0;
}

}  // namespace flashcheck
