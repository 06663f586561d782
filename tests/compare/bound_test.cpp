#include "src/compare/bound.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>

#include "tests/compare/simulated_kernel.h"
#include "tests/reference/problems.h"

using namespace flashcheck;
using namespace flashcheck::testing;

namespace {

Simulation random_simulation(const TestProblem& test, Random& random) {
  Simulation simulation{.out_dtype = test.problem.dtype};
  constexpr int64_t kTiles[] = {1, 16, 32, 64, 128};
  simulation.tile = kTiles[random.integer(0, 4)];
  simulation.descending = random.one_in(2);
  simulation.truncates = test.problem.dtype != Dtype::kF32 && random.one_in(2);
  simulation.rounds_p = !random.one_in(4);
  if (random.one_in(4)) simulation.out_dtype = Dtype::kF32;
  return simulation;
}

/// Data that strain a bound: sharp and flat softmaxes, long rows, tiny and huge values, ties.
TestProblem straining_problem(uint64_t seed) {
  Random random(seed ^ 0x5A5A5A5Au);
  constexpr Dtype kDtypes[] = {Dtype::kF16, Dtype::kBF16, Dtype::kF32};
  constexpr Layout kLayouts[] = {Layout::kFixed, Layout::kVarlen, Layout::kPaged};
  constexpr double kQStds[] = {0, 0.1, 1, 1, 3, 10, 30};
  constexpr double kKStds[] = {0.1, 1, 1, 4};
  constexpr double kVStds[] = {1e-6, 1e-3, 1, 1, 1, 100, 1e4};
  Wanted wanted{.dtype = kDtypes[random.integer(0, 2)], .layout = kLayouts[random.integer(0, 2)]};
  wanted.head_dim = 8 * random.integer(1, 16);
  wanted.page_block_size = 16;
  const int64_t seqlen_k = random.one_in(5) ? random.integer(200, 900) : random.integer(1, 80);
  wanted.lengths = {{random.integer(1, 4), seqlen_k}};
  wanted.q_std = kQStds[random.integer(0, 6)];
  wanted.k_std = kKStds[random.integer(0, 3)];
  wanted.v_std = kVStds[random.integer(0, 6)];
  TestProblem test = make_problem(wanted, seed);
  AttentionProblem& p = test.problem;
  if (random.one_in(3)) p.window_size_right = 0;
  if (random.one_in(4)) p.window_size_left = random.integer(0, 100);
  if (random.one_in(4)) p.softcap = static_cast<float>(random.integer(1, 60));
  if (random.one_in(4)) {
    p.alibi_slopes = {0.5f, 0.0625f};
    p.alibi_is_causal_form = p.window_size_right && random.one_in(2);
  }
  const bool is_constant = random.one_in(6), is_identity = !is_constant && random.one_in(8);
  for (int64_t j = 0; (is_constant || is_identity) && j < seqlen_k; ++j) {
    for (int64_t c = 0; c < p.head_dim; ++c) {
      write_element(test.inputs.storages[2], p.dtype, kv_address(p, p.v, 0, j, 0) + c,
                    is_constant ? 0.3 : static_cast<double>(j % p.head_dim == c));
    }
  }
  return test;
}

/// How many problems a test tries: FLASHCHECK_SEEDS, or a number that takes a second.
uint64_t num_seeds(uint64_t few) {
  const char* const given = std::getenv("FLASHCHECK_SEEDS");
  return given ? std::strtoull(given, nullptr, 10) : few;
}

Comparison compared(const TestProblem& test, const Simulation& simulation) {
  return compare(test.problem, simulate(test, simulation), test.reference());
}

}  // namespace

TEST_CASE("no correct kernel leaves the bound, whatever its tiles, order and rounding") {
  double largest = 0, largest_lse = 0;
  int64_t rows = 0, outliers = 0, beyond_fa2 = 0;
  const uint64_t seeds = num_seeds(600);
  for (uint64_t seed = 0; seed < seeds; ++seed) {
    CAPTURE(seed);
    const TestProblem test = seed % 2 == 0 ? random_problem(seed) : straining_problem(seed);
    Random random(seed);
    const Comparison comparison = compared(test, random_simulation(test, random));
    CHECK(comparison.num_mismatched == 0);
    CHECK(comparison.num_lse_mismatched == 0);
    CHECK(comparison.num_unbounded == 0);
    largest = std::max(largest, comparison.max_ratio);
    largest_lse = std::max(largest_lse, comparison.max_lse_ratio);
    rows += comparison.num_rows * test.problem.num_heads;
    outliers += comparison.num_statistical_outliers;
    beyond_fa2 += comparison.fa2_ratio > 1;
  }
  MESSAGE(seeds << " problems: largest share of the bound " << largest << ", of lse's "
                << largest_lse << "; statistical outliers " << outliers << " of " << rows
                << " rows; beyond FlashAttention's own rule " << beyond_fa2);
  // A bound that nothing comes near would find nothing.
  CHECK(largest > 0.5);
  CHECK(outliers * 1000 < rows);
}

TEST_CASE("nor does one that keeps its running output in f16, with that arithmetic declared") {
  double largest = 0;
  int64_t beyond_f32 = 0;
  const uint64_t seeds = num_seeds(200);
  for (uint64_t seed = 0; seed < seeds; ++seed) {
    CAPTURE(seed);
    TestProblem test = random_problem(seed);
    if (test.problem.dtype != Dtype::kF16) continue;
    Random random(seed);
    Simulation simulation = random_simulation(test, random);
    simulation.sums_in_f16 = true;
    beyond_f32 += compared(test, simulation).num_mismatched > 0;
    test.problem.arithmetic.accumulate = Arithmetic::Accumulate::kF16;
    const Comparison comparison = compared(test, simulation);
    CHECK(comparison.num_mismatched == 0);
    largest = std::max(largest, comparison.max_ratio);
  }
  CHECK(largest > 0.3);
  CHECK(beyond_f32 > 20);  // the declaration is needed
}

TEST_CASE("a kernel that drops the last key is refused at every length a laptop runs") {
  for (const Dtype dtype : {Dtype::kF16, Dtype::kBF16, Dtype::kF32}) {
    for (const int64_t n : {2, 17, 64}) {
      CAPTURE(n);
      const TestProblem test =
          make_problem({.dtype = dtype, .head_dim = 64, .lengths = {{3, n}}}, 11);
      const Comparison comparison = compared(test, {.out_dtype = dtype, .drops_last_key = true});
      CHECK(comparison.num_wrong_rows == 6);
      CHECK(comparison.max_ratio > 2);
    }
  }
}

TEST_CASE("a scale that is one percent off is refused, or, in bf16, seen by the row statistics") {
  for (const Dtype dtype : {Dtype::kF16, Dtype::kBF16, Dtype::kF32}) {
    const TestProblem test =
        make_problem({.dtype = dtype, .head_dim = 64, .lengths = {{3, 64}}}, 12);
    const Comparison comparison = compared(test, {.out_dtype = dtype, .scale_factor = 1.01f});
    if (dtype == Dtype::kBF16) {
      CHECK(comparison.num_statistical_outliers == 6);
    } else {
      CHECK(comparison.num_wrong_rows == 6);
    }
  }
}

TEST_CASE("P that is not rounded is bounded more tightly, f16 sums more loosely") {
  const TestProblem test = make_problem({.head_dim = 64, .lengths = {{2, 100}}}, 13);
  const Reference reference = test.reference();
  const auto bound = [&](Arithmetic arithmetic, size_t element) {
    return RowBound(test.problem, arithmetic, Dtype::kF32, reference, element / 64).out(element);
  };
  for (size_t n = 0; n < reference.out.size(); ++n) {
    const double declared = bound({}, n);
    CHECK(bound({.p = Arithmetic::P::kF32}, n) < declared / 4);
    CHECK(bound({.accumulate = Arithmetic::Accumulate::kF16}, n) > declared);
    CHECK(bound({.tanh = Arithmetic::Tanh::kApproximate}, n) == declared);  // nothing is capped
  }
}

TEST_CASE("an approximate tanh is granted to those who declare it") {
  TestProblem test = make_problem({.head_dim = 64, .lengths = {{2, 100}}, .q_std = 10}, 14);
  test.problem.softcap = 20.0f;
  const Reference reference = test.reference();
  const double exact = RowBound(test.problem, {}, Dtype::kF16, reference, 0).out(0);
  const double approximate =
      RowBound(test.problem, {.tanh = Arithmetic::Tanh::kApproximate}, Dtype::kF16, reference, 0)
          .out(0);
  CHECK(approximate > 5 * exact);
}

TEST_CASE("a row that sees no key has bound 0; logits beyond rounding have none") {
  TestProblem test = make_problem({.lengths = {{3, 1}}}, 15);
  test.problem.window_size_right = 0;
  const Reference blind = test.reference();
  CHECK(RowBound(test.problem, {}, Dtype::kF16, blind, 0).out(0) == 0);

  test = make_problem({.lengths = {{1, 4}}}, 16);
  test.problem.softmax_scale = 1e7f;
  const Reference huge = test.reference();
  CHECK(std::isinf(RowBound(test.problem, {}, Dtype::kF16, huge, 0).out(0)));
  CHECK(std::isinf(RowBound(test.problem, {}, Dtype::kF16, huge, 0).lse()));
}

TEST_CASE("the smallest number that rounds to infinity") {
  for (const Dtype dtype : {Dtype::kF16, Dtype::kBF16, Dtype::kF32}) {
    const double threshold = overflow_threshold(dtype);
    CHECK(std::isinf(round_to(dtype, threshold)));
    CHECK(std::isfinite(round_to(dtype, std::nextafter(threshold, 0))));
  }
  CHECK(overflow_threshold(Dtype::kF16) == 65520);
}

TEST_CASE("weights too small for an f16 P are allowed for, and not more") {
  // One key far above the others: their weights are near 2^-20, multiples of 2^-24 in f16.
  TestProblem test = make_problem({.num_heads = 1, .head_dim = 8, .lengths = {{1, 65}}}, 17);
  for (int64_t c = 0; c < 8; ++c) {
    write_element(test.inputs.storages[0], Dtype::kF16, c, c == 0 ? 13.6 : 0);
    for (int64_t j = 0; j < 65; ++j) {
      write_element(test.inputs.storages[1], Dtype::kF16, j * 8 + c, c == 0 && j == 0 ? 2.83 : 0);
      write_element(test.inputs.storages[2], Dtype::kF16, j * 8 + c, j == 0 ? 0 : 1000);
    }
  }
  const Reference reference = test.reference();
  CHECK(reference.small_magnitude[0] > 0);
  Simulation simulation{.out_dtype = Dtype::kF32};
  const Comparison comparison = compared(test, simulation);
  CHECK(comparison.num_mismatched == 0);
  CHECK(comparison.max_ratio > 0.2);
  CHECK(reference.small_magnitude[0] < 0.1 * reference.magnitude[0]);
}
