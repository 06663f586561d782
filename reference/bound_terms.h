#pragma once

#include <cstdint>
#include <vector>

#include "reference/dense_products.h"
#include "reference/gather_kv.h"
#include "reference/reference.h"
#include "reference/visible_keys.h"

namespace flashcheck {

/// One line of the matrices: a query row of one head.
struct Query {
  QueryRow row;
  int64_t head = 0;
  int64_t position = 0;  // in the arrays [rows][num_heads] of the result
  std::vector<KeyRange> visible;
};

/// What the error bound needs besides out and magnitude: squares, small_magnitude, partial_sums,
/// largest_weight, concentration and max_rises of the queries. `weights` holds one line of exact
/// weights a query, 0 where a key is not visible.
void add_bound_terms(const Products& products, const AttentionProblem& problem, const DenseKv& kv,
                     const std::vector<Query>& queries, KeyBlock weights, Reference& result);

}  // namespace flashcheck
