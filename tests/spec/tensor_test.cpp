#include "src/spec/tensor.h"

#include <doctest/doctest.h>

#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

using flashcheck::Dtype;
using flashcheck::read_element;
using flashcheck::read_integer;
using flashcheck::round_to;
using flashcheck::StorageBytes;
using flashcheck::write_element;

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

double decode(Dtype dtype, uint32_t bits) {
  StorageBytes storage(4);
  std::memcpy(storage.begin(), &bits, 4);
  return read_element(storage, dtype, 0);
}

uint32_t encode(Dtype dtype, double value) {
  StorageBytes storage(4);
  uint32_t bits = 0;
  std::memcpy(storage.begin(), &bits, 4);
  write_element(storage, dtype, 0, value);
  std::memcpy(&bits, storage.begin(), 4);
  return bits;
}

/// Every finite pattern decodes to a value that encodes to the same pattern, every midpoint between
/// neighbours goes to the even one, and every value beside a midpoint to the nearer.
void check_all_patterns(Dtype dtype, uint32_t sign, uint32_t first_nonfinite) {
  bool round_trips = true, ties_to_even = true, nearest = true, ascending = true;
  for (uint32_t bits = 0; bits < first_nonfinite; ++bits) {
    const double value = decode(dtype, bits);
    round_trips = round_trips && encode(dtype, value) == bits &&
                  encode(dtype, -value) == (bits | sign) && decode(dtype, bits | sign) == -value &&
                  round_to(dtype, value) == value;
    if (bits + 1 == first_nonfinite) break;
    const double next = decode(dtype, bits + 1);
    const double middle = (value + next) / 2;  // exact in double
    ascending = ascending && value < next;
    ties_to_even = ties_to_even && encode(dtype, middle) == (bits % 2 == 0 ? bits : bits + 1);
    nearest = nearest && encode(dtype, std::nextafter(middle, 0)) == bits &&
              encode(dtype, std::nextafter(middle, kInfinity)) == bits + 1;
  }
  CHECK(round_trips);
  CHECK(ascending);
  CHECK(ties_to_even);
  CHECK(nearest);
}

}  // namespace

TEST_CASE("f16: every pattern, every tie") {
  check_all_patterns(Dtype::kF16, 0x8000, 0x7C00);
  CHECK(decode(Dtype::kF16, 0x0001) == 0x1p-24);
  CHECK(decode(Dtype::kF16, 0x0400) == 0x1p-14);
  CHECK(decode(Dtype::kF16, 0x3C00) == 1);
  CHECK(decode(Dtype::kF16, 0x7BFF) == 65504);
  CHECK(decode(Dtype::kF16, 0x7C00) == kInfinity);
  CHECK(decode(Dtype::kF16, 0xFC00) == -kInfinity);
  for (uint32_t bits = 0x7C01; bits < 0x8000; ++bits) {
    if (!std::isnan(decode(Dtype::kF16, bits)) || !std::isnan(decode(Dtype::kF16, bits | 0x8000))) {
      FAIL("not NaN: " << bits);
    }
  }
}

TEST_CASE("bf16: every pattern, every tie") {
  check_all_patterns(Dtype::kBF16, 0x8000, 0x7F80);
  CHECK(decode(Dtype::kBF16, 0x0001) == 0x1p-133);
  CHECK(decode(Dtype::kBF16, 0x0080) == 0x1p-126);
  CHECK(decode(Dtype::kBF16, 0x3F80) == 1);
  CHECK(decode(Dtype::kBF16, 0x7F80) == kInfinity);
  CHECK(std::isnan(decode(Dtype::kBF16, 0x7F81)));
  bool upper_half_of_f32 = true;
  for (uint32_t bits = 0; bits < 0x7F80; ++bits) {
    const float f32 = std::bit_cast<float>(bits << 16);
    upper_half_of_f32 = upper_half_of_f32 && decode(Dtype::kBF16, bits) == static_cast<double>(f32);
  }
  CHECK(upper_half_of_f32);
}

TEST_CASE("f8e4m3: every pattern, every tie; no infinity and one NaN a sign") {
  check_all_patterns(Dtype::kF8E4M3, 0x80, 0x7F);
  CHECK(decode(Dtype::kF8E4M3, 0x01) == 0x1p-9);
  CHECK(decode(Dtype::kF8E4M3, 0x08) == 0x1p-6);
  CHECK(decode(Dtype::kF8E4M3, 0x38) == 1);
  CHECK(decode(Dtype::kF8E4M3, 0x7E) == 448);
  CHECK(std::isnan(decode(Dtype::kF8E4M3, 0x7F)));
  CHECK(std::isnan(decode(Dtype::kF8E4M3, 0xFF)));
  CHECK(encode(Dtype::kF8E4M3, 464) == 0x7E);  // a tie: to the even 448
  CHECK(encode(Dtype::kF8E4M3, 465) == 0x7F);
  CHECK(encode(Dtype::kF8E4M3, -kInfinity) == 0xFF);
}

TEST_CASE("beyond the largest number is infinity, from the tie on") {
  CHECK(round_to(Dtype::kF16, std::nextafter(65520, 0)) == 65504);
  CHECK(round_to(Dtype::kF16, 65520) == kInfinity);
  CHECK(round_to(Dtype::kF16, -1e300) == -kInfinity);
  CHECK(round_to(Dtype::kBF16, 3.39e38) < kInfinity);
  CHECK(round_to(Dtype::kBF16, 3.4e38) == kInfinity);
  CHECK(round_to(Dtype::kF32, 3.5e38) == kInfinity);
  CHECK(round_to(Dtype::kF64, 1e300) == 1e300);
}

TEST_CASE("zeros keep their sign, NaN stays NaN, and what is too small becomes zero") {
  for (const Dtype dtype : {Dtype::kF16, Dtype::kBF16, Dtype::kF32, Dtype::kF64, Dtype::kF8E4M3}) {
    CHECK(std::signbit(round_to(dtype, -0.0)));
    CHECK_FALSE(std::signbit(round_to(dtype, 0.0)));
    CHECK(std::isnan(round_to(dtype, kNaN)));
    const double smallest = flashcheck::smallest_subnormal(dtype);
    CHECK(round_to(dtype, smallest) == smallest);
    if (dtype == Dtype::kF64) continue;
    CHECK(round_to(dtype, smallest / 2) == 0);
    CHECK(round_to(dtype, smallest * 0.50001) == smallest);
    CHECK(round_to(dtype, 1 + flashcheck::unit_roundoff(dtype)) == 1);
    CHECK(round_to(dtype, 1 + flashcheck::unit_roundoff(dtype) * 1.001) ==
          1 + 2 * flashcheck::unit_roundoff(dtype));
  }
}

TEST_CASE("f32 and f64 are kept as they are") {
  StorageBytes storage(32);
  for (const double value : {0.1, -2.5e-45, 1e-310, 3.0}) {
    write_element(storage, Dtype::kF64, 3, value);
    CHECK(read_element(storage, Dtype::kF64, 3) == value);
    write_element(storage, Dtype::kF32, 5, value);
    CHECK(read_element(storage, Dtype::kF32, 5) == static_cast<double>(static_cast<float>(value)));
  }
}

TEST_CASE("integers of every width") {
  StorageBytes storage(32);
  const auto round_trip = [&](Dtype dtype, double value) {
    write_element(storage, dtype, 2, value);
    return read_element(storage, dtype, 2) == value &&
           read_integer(storage, dtype, 2) == static_cast<int64_t>(value);
  };
  CHECK(round_trip(Dtype::kU8, 255));
  CHECK(round_trip(Dtype::kU32, 4294967295.0));
  CHECK(round_trip(Dtype::kI16, -32768));
  CHECK(round_trip(Dtype::kI32, -2147483648.0));
  CHECK(round_trip(Dtype::kI64, -9007199254740992.0));
  CHECK_THROWS_AS(read_integer(storage, Dtype::kF32, 0), std::logic_error);
}

TEST_CASE("a fresh storage is NaN in every floating dtype, and aligned") {
  const StorageBytes storage(64);
  CHECK(reinterpret_cast<uintptr_t>(storage.begin()) % 64 == 0);
  CHECK(storage.size_bytes() == 64);
  for (const Dtype dtype : {Dtype::kF16, Dtype::kBF16, Dtype::kF32, Dtype::kF64, Dtype::kF8E4M3}) {
    CHECK(std::isnan(read_element(storage, dtype, 7)));
  }
  CHECK(read_integer(storage, Dtype::kU8, 63) == 255);
  CHECK(StorageBytes(0).size_bytes() == 0);
}
