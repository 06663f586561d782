#pragma once

#include <cstdint>

#include "reference/bound_terms.h"

namespace flashcheck {

/// The argument of the softmax of a query and key `j`, from their scaled score: capped, biased.
double logit(const AttentionProblem& problem, const Query& query, int64_t j, double scaled);

}  // namespace flashcheck
