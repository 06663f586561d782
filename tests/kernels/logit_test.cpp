#include "kernels/logit.h"

#include <doctest/doctest.h>

#include <cmath>
#include <initializer_list>

using flashcheck::Logit;

namespace {
constexpr double kLn2 = 0.69314718055994531;
}

TEST_CASE("scale first, then cap; in base 2") {
  CHECK(Logit(0.5f, 0, false)(3.0f) * kLn2 == doctest::Approx(1.5).epsilon(1e-6));
  CHECK(Logit(0.5f, 2, false)(3.0f) * kLn2 ==
        doctest::Approx(2 * std::tanh(1.5 / 2)).epsilon(1e-6));
  CHECK(Logit(-0.5f, 2, false)(3.0f) * kLn2 ==
        doctest::Approx(-2 * std::tanh(1.5 / 2)).epsilon(1e-6));
}

TEST_CASE("a softcap that is not positive is none") {
  for (const float softcap : {0.0f, -3.0f, std::nanf("")}) {
    CHECK(Logit(0.5f, softcap, false)(3.0f) == Logit(0.5f, 0, false)(3.0f));
  }
}

TEST_CASE("both forms of ALiBi") {
  const Logit causal(1, 0, true), symmetric(1, 0, false);
  CHECK(causal.alibi_bias(0.5f, 7, 4) == 2.0f);
  CHECK(symmetric.alibi_bias(0.5f, 7, 4) == -1.5f);
  CHECK(symmetric.alibi_bias(0.5f, 4, 7) == -1.5f);
  CHECK(symmetric.alibi_bias(0.5f, -2, 3) == -2.5f);
  CHECK(Logit::in_base_2(1.0f) == 1.44269504f);
}
