#include "src/compare/fitting_arithmetic.h"

#include <vector>

#include "src/compare/ratios.h"

namespace flashcheck {
namespace {

/// Whether an output of zeros would be refused: an arithmetic that lets it pass explains nothing.
bool refuses_zeros(const Arithmetic& arithmetic, const AttentionProblem& problem,
                   const Output& actual, const Reference& expected) {
  Output zeros{.dtype = actual.dtype, .out = std::vector<double>(actual.out.size())};
  return !ratios_under(arithmetic, problem, zeros, expected).all_fit();
}

}  // namespace

std::optional<Arithmetic> fitting_arithmetic(const AttentionProblem& problem, const Output& actual,
                                             const Reference& expected) {
  const Arithmetic declared = problem.arithmetic;
  std::vector<Arithmetic> candidates;
  for (const auto tanh : {declared.tanh, Arithmetic::Tanh::kApproximate}) {
    for (const auto accumulate : {declared.accumulate, Arithmetic::Accumulate::kF16}) {
      for (const auto p : {declared.p, Arithmetic::P::kInput}) {
        candidates.push_back({.accumulate = accumulate, .p = p, .tanh = tanh});
      }
    }
  }
  for (const Arithmetic& candidate : candidates) {
    if (candidate == declared) continue;
    // Without a cap there is no tanh, and only f16 is accumulated in f16.
    if (candidate.tanh != declared.tanh && !problem.softcap) continue;
    if (candidate.accumulate != declared.accumulate && problem.dtype != Dtype::kF16) continue;
    if (ratios_under(candidate, problem, actual, expected).all_fit() &&
        refuses_zeros(candidate, problem, actual, expected)) {
      return candidate;
    }
  }
  return std::nullopt;
}

}  // namespace flashcheck
