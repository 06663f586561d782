#pragma once

#include <span>
#include <vector>

#include "src/compare/comparison.h"
#include "src/spec/attention_problem.h"
#include "src/spec/finding.h"
#include "src/spec/verdict.h"

namespace flashcheck {

/// Words what a comparison found: findings of the FC-Mnnn rules, the gravest first; empty if the
/// numbers are right and prove something.
std::vector<Finding> judge(const AttentionProblem& problem, const Comparison& comparison);

/// kMismatch, kMistrusted or kOk.
Verdict verdict_of(const Comparison& comparison);

/// Every FC-Mnnn rule, ascending.
std::span<const Rule* const> mismatch_rules();

}  // namespace flashcheck
