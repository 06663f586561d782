#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "src/compare/comparison.h"

namespace flashcheck {

/// error / bound: 0 for no error whatever the bound, +inf for an error that is no number.
double ratio_of(double error, double bound);

/// Errors as shares of the bound, in the order of Reference::out.
struct Ratios {
  std::vector<double> of_element;
  int64_t num_unbounded = 0;

  bool all_fit() const {
    return std::all_of(of_element.begin(), of_element.end(), [](double r) { return r <= 1; });
  }
};

/// What the ratios would be if `arithmetic` were the declared one.
Ratios ratios_under(const Arithmetic& arithmetic, const AttentionProblem& problem,
                    const Output& actual, const Reference& expected);

}  // namespace flashcheck
