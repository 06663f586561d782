#pragma once

#include <cstdint>
#include <vector>

#include "reference/bound_terms.h"
#include "reference/dense_products.h"
#include "reference/gather_kv.h"

namespace flashcheck {

/// What a naive run in the input's dtype, f16 or bf16, makes of the same queries and keys: both
/// products are those of that dtype, and scores, weights and output are rounded to it. `q` is
/// [queries][head_dim]. Returns its largest error against `result`.
double low_precision_error(const Products& products, const AttentionProblem& problem,
                           const DenseKv& kv, const std::vector<Query>& queries,
                           const std::vector<double>& q, KeyRange keys, const Reference& result);

}  // namespace flashcheck
