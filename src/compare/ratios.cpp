#include "src/compare/ratios.h"

#include <cmath>
#include <limits>

#include "src/compare/bound.h"
#include "src/compare/pairing.h"

namespace flashcheck {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// Where the truth itself is NaN or infinite (a visible key is), so must be the output.
double element_ratio(double actual, double expected, double bound) {
  if (!std::isfinite(expected)) return std::isfinite(actual) ? kInfinity : 0;
  return ratio_of(std::fabs(actual - expected), bound);
}

}  // namespace

double ratio_of(double error, double bound) {
  if (!std::isfinite(error)) return kInfinity;
  return error == 0 ? 0 : error / bound;
}

Ratios ratios_under(const Arithmetic& arithmetic, const AttentionProblem& problem,
                    const Output& actual, const Reference& expected) {
  const Pairing pairing(problem, actual, expected);
  Ratios ratios;
  ratios.of_element.reserve(expected.out.size());
  for (size_t line = 0; line < pairing.num_lines(); ++line) {
    const RowBound row_bound(problem, arithmetic, actual.dtype, expected, line);
    for (int64_t c = 0; c < problem.head_dim; ++c) {
      const size_t element = pairing.element(line, c);
      const double bound = row_bound.out(element);
      ratios.of_element.push_back(
          element_ratio(pairing.actual(line, c), expected.out[element], bound));
      ratios.num_unbounded += std::isinf(bound);
    }
  }
  return ratios;
}

}  // namespace flashcheck
