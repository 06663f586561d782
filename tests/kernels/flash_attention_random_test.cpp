#include <doctest/doctest.h>

#include "tests/kernels/attention_call.h"

using namespace flashcheck;
using namespace flashcheck::testing;

TEST_CASE("random calls of every kind agree with a naive double loop") {
  std::mt19937 rng(20240607);
  for (int n = 0; n < 400; ++n) {
    CAPTURE(n);
    AttentionCall call(random_shape(rng));
    check_against_naive(call);
  }
}
