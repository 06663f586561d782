#pragma once

#include <cstddef>

#include "src/compare/pairing.h"
#include "src/spec/attention_problem.h"

namespace flashcheck {

/// Whether the errors of a (row, head), taken together, are larger than independent roundings of P
/// and of the output make plausible: the sum of squared errors over their variances is ten standard
/// deviations above head_dim, its mean. Sees a systematic fault long before a single element leaves
/// its bound, and proves nothing: docs/numerics.md says which data are exempt. Never for an
/// arithmetic whose errors it does not model (P not rounded, sums in f16, an approximate tanh).
bool is_statistical_outlier(const AttentionProblem& problem, Dtype out_dtype,
                            const Reference& expected, const Pairing& pairing, size_t line);

}  // namespace flashcheck
