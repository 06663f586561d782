#include "src/compare/bound.h"

#include <doctest/doctest.h>

#include <cmath>

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

Comparison compared(const TestProblem& test, const Simulation& simulation) {
  return compare(test.problem, simulate(test, simulation), test.reference());
}

}  // namespace

TEST_CASE("no correct kernel leaves the bound, whatever its tiles, order and rounding") {
  double largest = 0, largest_lse = 0;
  for (uint64_t seed = 0; seed < 400; ++seed) {
    CAPTURE(seed);
    const TestProblem test = random_problem(seed);
    Random random(seed);
    const Comparison comparison = compared(test, random_simulation(test, random));
    CHECK(comparison.num_mismatched == 0);
    CHECK(comparison.num_lse_mismatched == 0);
    CHECK(comparison.num_unbounded == 0);
    CHECK(comparison.num_statistical_outliers == 0);
    largest = std::max(largest, comparison.max_ratio);
    largest_lse = std::max(largest_lse, comparison.max_lse_ratio);
  }
  MESSAGE("largest share of the bound: " << largest << ", of lse: " << largest_lse);
  // A bound that nothing comes near would find nothing.
  CHECK(largest > 0.5);
}
