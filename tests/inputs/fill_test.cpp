#include "src/inputs/fill.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "src/spec/random_bits.h"
#include "src/spec/tensor.h"

using namespace flashcheck;

TEST_CASE("the random bits are SplitMix64's") {
  // The first three outputs of the published generator with state 1234567.
  CHECK(random_bits(1234567, 0) == 6457827717110365317u);
  CHECK(random_bits(1234567, 1) == 3203168211198807973u);
  CHECK(random_bits(1234567, 2) == 9817491932198370423u);
}

TEST_CASE("the normal numbers are these, on every machine") {
  CHECK(standard_normal(0, 0) == 0x1.0b7bba8p-4);
  CHECK(standard_normal(0, 1) == 0x1.a40f3e6p-4);
  CHECK(standard_normal(42, 1000) == -0x1.419a4e8bp+0);
}

TEST_CASE("the normal numbers are normal") {
  constexpr int kCount = 400'000;
  std::vector<double> sorted;
  double sum = 0, squares = 0, fourths = 0;
  for (int n = 0; n < kCount; ++n) {
    const double z = standard_normal(7, static_cast<uint64_t>(n));
    sorted.push_back(z);
    sum += z;
    squares += z * z;
    fourths += z * z * z * z;
  }
  std::sort(sorted.begin(), sorted.end());
  CHECK(std::fabs(sum / kCount) < 0.006);
  CHECK(squares / kCount == doctest::Approx(1).epsilon(0.008));
  CHECK(fourths / kCount == doctest::Approx(3).epsilon(0.03));
  // The largest distance of the distribution functions; chance alone gives 0.0026 in 1 of 100.
  double distance = 0;
  for (int n = 0; n < kCount; ++n) {
    const double cdf = 0.5 * std::erfc(-sorted[static_cast<size_t>(n)] / std::sqrt(2.0));
    distance = std::max(distance, std::fabs(cdf - (n + 0.5) / kCount));
  }
  CHECK(distance < 0.003);
  CHECK(sorted.front() < -4);
  CHECK(sorted.front() > -6);
  CHECK(sorted.back() > 4);
}

TEST_CASE("the tails are neither cut off nor too heavy") {
  double largest = 0;
  for (uint64_t n = 0; n < 2'000'000; ++n) {
    largest = std::max(largest, std::fabs(standard_normal(1, n)));
  }
  CHECK(largest > 4.6);  // of two million: 5.0 expected
  CHECK(largest < 6.5);
}

TEST_CASE("mean and deviation") {
  const Fill fill{.generator = Fill::Generator::kNormal, .seed = 3, .mean = 10, .std = 0.5};
  CHECK(fill_element(fill, Dtype::kF32, 5) == 10 + 0.5 * standard_normal(3, 5));
}

TEST_CASE("uniform numbers keep to their interval") {
  const Fill fill{.generator = Fill::Generator::kUniform, .seed = 3, .low = -2, .high = 6};
  double low = 100, high = -100, sum = 0;
  for (int64_t n = 0; n < 20'000; ++n) {
    const double x = fill_element(fill, Dtype::kF64, n);
    low = std::min(low, x);
    high = std::max(high, x);
    sum += x;
  }
  CHECK(low >= -2);
  CHECK(low < -1.99);
  CHECK(high < 6);
  CHECK(high > 5.99);
  CHECK(sum / 20'000 == doctest::Approx(2).epsilon(0.02));
}

TEST_CASE("constants and ramps") {
  CHECK(fill_element({.generator = Fill::Generator::kConstant, .value = 0.1}, Dtype::kF32, 9) ==
        0.1);
  Fill ramp{.generator = Fill::Generator::kRamp, .start = 2, .step = 3};
  CHECK(fill_element(ramp, Dtype::kF16, 4) == 14);
  ramp.modulo = 3;
  CHECK(fill_element(ramp, Dtype::kF16, 4) == 5);
  ramp.divide = 7;
  CHECK(fill_element(ramp, Dtype::kF64, 4) == 5.0 / 7);
  // Rounded after the division, the factor too: as a chain of tensor operations does.
  ramp.multiply = 0.3;
  CHECK(fill_element(ramp, Dtype::kF16, 4) ==
        round_to(Dtype::kF16, 5.0 / 7) * round_to(Dtype::kF16, 0.3));
}
