#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>

#include "tests/reference/problems.h"
#include "tests/reference/scalar_attention.h"

using namespace flashcheck;
using namespace flashcheck::testing;

namespace {

/// The terms of one (row, head), by their definitions.
struct Terms {
  double largest = 0, concentration = 0;
  int64_t rises = 0;
  std::vector<double> squares, small, sums;  // [head_dim]
};

Terms terms_of(const TestProblem& test, const std::vector<double>& weights, int64_t sequence,
               int64_t head) {
  const AttentionProblem& p = test.problem;
  const double smallest_normal = p.dtype == Dtype::kF16 ? 0x1p-14 : 0x1p-126;
  const double floor = p.dtype == Dtype::kF16 ? 0x1p-25 : 0x1p-126;
  Terms terms;
  for (const double w : weights) {
    terms.largest = std::max(terms.largest, w);
    terms.concentration += w * w;
  }
  const auto v = [&](size_t j, int64_t c) {
    const int64_t head_k = head / (p.num_heads / p.num_heads_k);
    return read_element(test.inputs.storages[static_cast<size_t>(test.storages.v)], p.dtype,
                        kv_address(p, p.v, sequence, static_cast<int64_t>(j), head_k) + c);
  };
  std::vector<size_t> keys;
  for (size_t j = 0; j < weights.size(); ++j) {
    if (weights[j] > 0) keys.push_back(j);
  }
  for (int64_t c = 0; c < p.head_dim; ++c) {
    double squares = 0, small = 0, worst_sum = 0;
    for (const size_t j : keys) {
      squares += std::pow(weights[j] * v(j, c), 2);
      if (weights[j] / terms.largest < smallest_normal) {
        small += std::min(weights[j], floor * terms.largest) * std::fabs(v(j, c));
      }
    }
    for (const bool ascending : {true, false}) {
      double partial = 0, sum = 0, max = 0;
      int64_t rises = 0;
      for (size_t n = 0; n < keys.size(); ++n) {
        const size_t j = keys[ascending ? n : keys.size() - 1 - n];
        if (weights[j] > max && n > 0) {
          sum += std::fabs(partial);
          ++rises;
        }
        max = std::max(max, weights[j]);
        partial += weights[j] * v(j, c);
        sum += std::fabs(partial);
      }
      worst_sum = std::max(worst_sum, sum);
      terms.rises = std::max(terms.rises, rises);
    }
    terms.squares.push_back(squares);
    terms.small.push_back(small);
    terms.sums.push_back(worst_sum);
  }
  return terms;
}

}  // namespace

TEST_CASE("what the bound is made of agrees with its definitions") {
  int64_t with_small_weights = 0;
  for (uint64_t seed = 0; seed < 60; ++seed) {
    CAPTURE(seed);
    TestProblem test = random_problem(seed);
    // Equal scores would let rounding decide where the maximum rises.
    test.problem.softcap.reset();
    const Reference reference = test.reference();
    const ScalarAttention scalar = scalar_attention(test);
    const auto head_dim = static_cast<size_t>(test.problem.head_dim);
    bool equal = true;
    for (size_t line = 0; line < scalar.weights.size(); ++line) {
      const auto heads = static_cast<size_t>(test.problem.num_heads);
      const Terms terms =
          terms_of(test, scalar.weights[line], reference.rows[line / heads].sequence,
                   static_cast<int64_t>(line % heads));
      equal = equal && reference.max_rises[line] == terms.rises &&
              std::fabs(reference.largest_weight[line] - terms.largest) <= 1e-12 &&
              std::fabs(reference.concentration[line] - terms.concentration) <= 1e-12;
      for (size_t c = 0; c < head_dim; ++c) {
        const size_t element = line * head_dim + c;
        const auto near = [&](double a, double b) { return std::fabs(a - b) <= 1e-10 * (a + b); };
        equal = equal && near(reference.squares[element], terms.squares[c]) &&
                near(reference.small_magnitude[element], terms.small[c]);
        if (test.problem.dtype == Dtype::kF16) {
          equal = equal && near(reference.partial_sums[element], terms.sums[c]);
        }
        with_small_weights += terms.small[c] > 0;
      }
    }
    CHECK(equal);
    const bool wants_sums = test.problem.dtype == Dtype::kF16;
    CHECK(reference.partial_sums.size() == (wants_sums ? reference.out.size() : 0));
  }
  CHECK(with_small_weights > 1000);
}

TEST_CASE("partial sums are there where they are declared") {
  TestProblem test = make_problem({.dtype = Dtype::kBF16, .lengths = {{2, 9}}}, 1);
  CHECK(test.reference().partial_sums.empty());
  test.problem.arithmetic.accumulate = Arithmetic::Accumulate::kF16;
  CHECK(test.reference().partial_sums.size() == test.reference().out.size());
}

TEST_CASE(
    "the naive run in the input's dtype: exact where nothing rounds, off where something does") {
  // One key: weight 1, and the output is v.
  CHECK(make_problem({.lengths = {{2, 1}}}, 2).reference().low_precision_error == 0);
  const double f16 = make_problem({.lengths = {{4, 40}}}, 2).reference().low_precision_error;
  const double bf16 = make_problem({.dtype = Dtype::kBF16, .lengths = {{4, 40}}}, 2)
                          .reference()
                          .low_precision_error;
  CHECK(f16 > 1e-5);
  CHECK(f16 < 1e-2);
  CHECK(bf16 > 3 * f16);
  CHECK(bf16 < 20 * f16);
}
