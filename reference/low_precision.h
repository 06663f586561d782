#pragma once

#include <vector>

#include "reference/bound_terms.h"
#include "reference/dense_products.h"
#include "reference/gather_kv.h"

namespace flashcheck {

/// What a naive run in the input's dtype makes of the same logits: scores, weights and output are
/// rounded to it, all between is exact. Returns its largest error against `result`.
double low_precision_error(const AttentionProblem& problem, const DenseKv& kv,
                           const std::vector<Query>& queries, KeyBlock logits,
                           const Reference& result);

}  // namespace flashcheck
