#include "kernels/online_softmax.h"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <vector>

using flashcheck::OnlineSoftmax;

namespace {
constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr double kLn2 = 0.69314718055994531;
}  // namespace

TEST_CASE("two tiles give what one gives") {
  // Row 0 rises, row 1 falls, row 2 sees nothing, row 3 sees the second tile alone.
  float first[2 * 4] = {1, 5, -kInfinity, -kInfinity, 2, 4, -kInfinity, -kInfinity};
  float second[1 * 4] = {4, 1, -kInfinity, 3};
  float rescale[4];
  OnlineSoftmax<4> softmax;
  softmax.reset();

  CHECK(softmax.take_tile(first, 2, 4, rescale));
  CHECK(first[0] == 0.5f);  // 2^(1 - 2)
  CHECK(first[4] == 1.0f);
  CHECK(first[1] == 1.0f);
  CHECK(first[2] == 0.0f);
  CHECK(first[3] == 0.0f);

  CHECK(softmax.take_tile(second, 1, 4, rescale));
  CHECK(rescale[0] == 0.25f);  // 2^(2 - 4)
  CHECK(rescale[1] == 1.0f);
  CHECK(softmax.max[0] == 4.0f);
  CHECK(softmax.max[1] == 5.0f);
  CHECK(softmax.sum[0] == 1.375f);
  CHECK(softmax.sum[1] == 1.5625f);
  CHECK(softmax.sum[2] == 0.0f);
  CHECK(softmax.sum[3] == 1.0f);
  CHECK(softmax.inverse_sum(0) == 1.0f / 1.375f);
  CHECK(softmax.inverse_sum(2) == 1.0f);
  CHECK(softmax.lse(0) == doctest::Approx(4 * kLn2 + std::log(1.375)).epsilon(1e-7));
  CHECK(softmax.lse(2) == kInfinity);
  CHECK(softmax.lse(3) == doctest::Approx(3 * kLn2).epsilon(1e-7));
}

TEST_CASE("no rescale where no maximum rose") {
  float first[1 * 2] = {0, 3}, second[1 * 2] = {0, -7};
  float rescale[2];
  OnlineSoftmax<2> softmax;
  softmax.reset();
  CHECK(softmax.take_tile(first, 1, 2, rescale));
  CHECK_FALSE(softmax.take_tile(second, 1, 2, rescale));
}

TEST_CASE("rows past num_rows are left alone") {
  float x[1 * 4] = {1, 1, 7, 7};
  float rescale[4] = {9, 9, 9, 9};
  OnlineSoftmax<4> softmax;
  softmax.reset();
  softmax.take_tile(x, 1, 2, rescale);
  CHECK(x[2] == 7.0f);
  CHECK(rescale[2] == 9.0f);
  CHECK(softmax.sum[2] == 0.0f);
}

TEST_CASE("NaN stays in its row: sum NaN, factor 1, lse +inf") {
  float x[2 * 2] = {std::nanf(""), 1, 2, 1};
  float rescale[2];
  OnlineSoftmax<2> softmax;
  softmax.reset();
  softmax.take_tile(x, 2, 2, rescale);
  CHECK(std::isnan(softmax.sum[0]));
  CHECK(softmax.inverse_sum(0) == 1.0f);
  CHECK(softmax.lse(0) == kInfinity);
  CHECK(softmax.sum[1] == 2.0f);
  float later[1 * 2] = {3, 3};
  softmax.take_tile(later, 1, 2, rescale);
  CHECK(std::isnan(softmax.sum[0]));
}
