#include "reference/bound_terms.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace flashcheck {
namespace {

/// Below `smallest_normal` a P of this dtype is off by up to `floor` instead of relatively: f16
/// rounds to multiples of 2^-24; bf16 and f32 have f32's exponents, where kernels flush to zero.
struct SmallP {
  double smallest_normal, floor;
};
SmallP small_p(Dtype dtype) {
  return dtype == Dtype::kF16 ? SmallP{0x1p-14, 0x1p-25} : SmallP{0x1p-126, 0x1p-126};
}

/// The part of each weight that a small P may lose; false if no weight is that small.
bool keep_small_part(SmallP small, double largest, double* weights, int64_t count) {
  bool found = false;
  for (int64_t j = 0; j < count; ++j) {
    const bool is_small = weights[j] > 0 && weights[j] < small.smallest_normal * largest;
    weights[j] = is_small ? std::min(weights[j], small.floor * largest) : 0;
    found = found || is_small;
  }
  return found;
}

/// Visits the weights that are not 0, in ascending or descending order of keys, and marks where the
/// running maximum rises; returns how often it does after the first.
int64_t mark_rises(const double* weights, int64_t count, bool ascending,
                   std::vector<uint8_t>& rises) {
  rises.assign(static_cast<size_t>(count), 0);
  double largest = 0;
  int64_t num_rises = 0;
  for (int64_t step = 0; step < count; ++step) {
    const int64_t j = ascending ? step : count - 1 - step;
    if (!(weights[j] > largest)) continue;
    if (largest > 0) {
      rises[static_cast<size_t>(j)] = 1;
      ++num_rises;
    }
    largest = weights[j];
  }
  return num_rises;
}

/// Adds up |partial sums| of p_j v_jc as a kernel's accumulator passes through them: once for the
/// addition of key j, and once for the scaling before it if the maximum rises there.
void add_partial_sums(const double* weights, const KeyBlock& block, const DenseKv& kv,
                      bool ascending, const std::vector<uint8_t>& rises, int64_t head_dim,
                      double* sums) {
  std::vector<double> partial(static_cast<size_t>(head_dim)), total(partial);
  for (int64_t step = 0; step < block.num_keys; ++step) {
    const int64_t j = ascending ? step : block.num_keys - 1 - step;
    if (weights[j] == 0) continue;
    const double* const v = kv.v.data() + (block.first_key + j) * head_dim;
    if (rises[static_cast<size_t>(j)]) {
      for (size_t c = 0; c < partial.size(); ++c) total[c] += std::fabs(partial[c]);
    }
    for (size_t c = 0; c < partial.size(); ++c) {
      partial[c] += weights[j] * v[c];
      total[c] += std::fabs(partial[c]);
    }
  }
  for (size_t c = 0; c < partial.size(); ++c) sums[c] = std::max(sums[c], total[c]);
}

}  // namespace

void add_bound_terms(const Products& products, const AttentionProblem& problem, const DenseKv& kv,
                     const std::vector<Query>& queries, KeyBlock weights, Reference& result) {
  const int64_t head_dim = problem.head_dim;
  const auto at = [&](std::vector<double>& array, const Query& query) {
    return array.data() + query.position * head_dim;
  };
  const auto put = [&](const std::vector<double>& lines, std::vector<double>& array) {
    for (size_t n = 0; n < queries.size(); ++n) {
      std::copy_n(lines.data() + static_cast<int64_t>(n) * head_dim, head_dim,
                  at(array, queries[n]));
    }
  };

  std::vector<uint8_t> rises;
  for (int64_t n = 0; n < weights.num_lines; ++n) {
    const Query& query = queries[static_cast<size_t>(n)];
    const auto position = static_cast<size_t>(query.position);
    const double* const p = weights.line(n);
    result.largest_weight[position] =
        weights.num_keys == 0 ? 0 : *std::max_element(p, p + weights.num_keys);
    result.concentration[position] = std::inner_product(p, p + weights.num_keys, p, 0.0);
    for (const bool ascending : {true, false}) {
      const int64_t num_rises = mark_rises(p, weights.num_keys, ascending, rises);
      result.max_rises[position] = std::max(result.max_rises[position], num_rises);
      if (result.partial_sums.empty()) continue;
      add_partial_sums(p, weights, kv, ascending, rises, head_dim, at(result.partial_sums, query));
    }
  }

  KeyBlock small = weights;
  bool any_small = false;
  for (int64_t n = 0; n < small.num_lines; ++n) {
    const auto position = static_cast<size_t>(queries[static_cast<size_t>(n)].position);
    const bool found = keep_small_part(small_p(problem.dtype), result.largest_weight[position],
                                       small.line(n), small.num_keys);
    any_small = any_small || found;
  }
  if (any_small) {
    put(times_values(products, Of::kMagnitude, small, kv.v, head_dim), result.small_magnitude);
  }
  for (double& p : weights.values) p *= p;
  put(times_values(products, Of::kSquare, weights, kv.v, head_dim), result.squares);
}

}  // namespace flashcheck
