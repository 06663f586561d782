#include "kernels/half.h"

#include <doctest/doctest.h>

#include <cmath>
#include <cstdint>
#include <initializer_list>
#include <random>

#include "tests/kernels/attention_call.h"

using namespace flashcheck;
using flashcheck::testing::decode;
using flashcheck::testing::encode;

namespace {

template <typename T>
void check_to_float(Dtype dtype) {
  int64_t wrong = 0;
  for (uint32_t bits = 0; bits < 0x10000u; ++bits) {
    const double expected = decode(dtype, bits);
    const float actual = to_float(T{static_cast<uint16_t>(bits)});
    wrong += std::isnan(expected) ? !std::isnan(actual) : double{actual} != expected;
    wrong += std::signbit(actual) != (bits >= 0x8000u);
  }
  CHECK(wrong == 0);
}

template <typename T>
void check_from_float(Dtype dtype, uint32_t bits) {
  const float value = std::bit_cast<float>(bits);
  const uint32_t actual = from_float<T>(value).bits;
  const float rounded = round_to<T>(value);
  CAPTURE(value);
  if (std::isnan(value)) {
    CHECK(std::isnan(decode(dtype, actual)));
    CHECK(std::isnan(rounded));
    return;
  }
  if (double{rounded} != decode(dtype, actual) || std::signbit(rounded) != std::signbit(value)) {
    CHECK(double{rounded} == decode(dtype, actual));
  }
  if (actual != encode(dtype, double{value})) {
    CHECK(actual == encode(dtype, double{value}));
  }
}

template <typename T>
void check_from_float(Dtype dtype) {
  // Every 16-bit value, the ties between neighbours, and the floats on both sides of each.
  for (uint32_t bits = 0; bits < 0x10000u; ++bits) {
    const double value = decode(dtype, bits);
    const double next = decode(dtype, (bits + 1) & 0xFFFFu);
    if (!std::isfinite(value) || !std::isfinite(next)) continue;
    const auto exact = std::bit_cast<uint32_t>(static_cast<float>(value));
    const auto tie = std::bit_cast<uint32_t>(static_cast<float>(value / 2 + next / 2));
    for (const uint32_t n : {exact, tie - 1, tie, tie + 1}) check_from_float<T>(dtype, n);
  }
  std::mt19937 rng(7);
  for (int n = 0; n < 200'000; ++n) check_from_float<T>(dtype, static_cast<uint32_t>(rng()));
  for (const uint32_t n : {0x7F800000u, 0xFF800000u, 0x7FC00000u, 0x7F800001u, 0xFFFFFFFFu,
                           0x477FEFFFu, 0x477FF000u, 0x7F7FFFFFu, 0x00000001u, 0x80000000u}) {
    check_from_float<T>(dtype, n);
  }
}

}  // namespace

TEST_CASE("16-bit values widen exactly, all of them") {
  check_to_float<Half>(Dtype::kF16);
  check_to_float<BFloat16>(Dtype::kBF16);
}

TEST_CASE("floats round to 16 bits to nearest, ties to even") {
  check_from_float<Half>(Dtype::kF16);
  check_from_float<BFloat16>(Dtype::kBF16);
}

TEST_CASE("round_to keeps what a type can hold") {
  CHECK(round_to<float>(0.1f) == 0.1f);
  CHECK(round_to<Half>(0.333251953125f) == 0.333251953125f);
  CHECK(round_to<Half>(1.0f / 3) == 0.333251953125f);
  CHECK(round_to<BFloat16>(1.0f / 3) == 0.333984375f);
}
