#include "kernels/exp2.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <limits>

using flashcheck::exp2_nonpositive;

TEST_CASE("exp2_nonpositive is within 2^-23 of the truth") {
  double worst = 0;
  // Every 499th float of [-126, -0]; a prime, so that all fraction patterns come by.
  for (uint32_t bits = 0x80000000u; bits <= std::bit_cast<uint32_t>(-126.0f); bits += 499) {
    const float x = std::bit_cast<float>(bits);
    const double relative = double{exp2_nonpositive(x)} / std::exp2(double{x}) - 1;
    worst = std::max(worst, std::fabs(relative));
  }
  CHECK(worst < std::ldexp(1.0, -23));
}

TEST_CASE("exp2_nonpositive is exact for integers") {
  for (int n = 0; n <= 126; ++n) {
    CHECK(exp2_nonpositive(static_cast<float>(-n)) == std::ldexp(1.0f, -n));
  }
  CHECK(exp2_nonpositive(0.0f) == 1.0f);
}

TEST_CASE("exp2_nonpositive of what is masked, tiny or not a number") {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  for (const float x : {-kInfinity, -std::numeric_limits<float>::max(), -1e6f, -4194304.5f, -127.0f,
                        std::nextafter(-126.0f, -kInfinity)}) {
    CAPTURE(x);
    CHECK(std::bit_cast<uint32_t>(exp2_nonpositive(x)) == 0u);
  }
  for (const uint32_t nan : {0x7FC00000u, 0xFFC00000u, 0x7FFFFFFFu, 0xFFFFFFFFu, 0x7F800001u}) {
    CHECK(std::isnan(exp2_nonpositive(std::bit_cast<float>(nan))));
  }
}
