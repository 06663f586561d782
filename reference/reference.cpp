// out = softmax(cap(scale * Q K^T) + bias, masked) V, in double:
//
//   gather K [n, d] and V [n, d] -> scores = Q K^T [m, n] -> scale -> cap -> bias
//     -> softmax over the visible keys, 0 elsewhere -> out = P V [m, d]
//
// for blocks of m query rows of the heads that share one kv head.

#include "reference/reference.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "reference/bound_terms.h"
#include "reference/dense_products.h"
#include "reference/gather_kv.h"
#include "reference/logit.h"
#include "reference/low_precision.h"
#include "reference/softmax.h"
#include "reference/visible_keys.h"

namespace flashcheck {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr int64_t kMaxQueries = 64;
constexpr int64_t kMaxScores = int64_t{1} << 22;  // of one block: 32 MiB a matrix

Reference make_result(const AttentionProblem& problem, std::vector<QueryRow> rows) {
  const size_t lines = rows.size() * static_cast<size_t>(problem.num_heads);
  const size_t elements = lines * static_cast<size_t>(problem.head_dim);
  Reference result{.rows = std::move(rows)};
  for (auto* array : {&result.out, &result.magnitude, &result.squares, &result.small_magnitude}) {
    array->resize(elements);
  }
  if (problem.dtype == Dtype::kF16 ||
      problem.arithmetic.accumulate == Arithmetic::Accumulate::kF16) {
    result.partial_sums.resize(elements);
  }
  result.lse.resize(lines, kInfinity);
  for (auto* array : {&result.max_logit, &result.max_dot_magnitude, &result.largest_weight,
                      &result.concentration}) {
    array->resize(lines);
  }
  result.visible.resize(lines);
  result.max_rises.resize(lines);
  return result;
}

/// Adds what DenseKv set aside, to the rows that do see it.
void add_nonfinite_values(const DenseKv& kv, const std::vector<Query>& queries,
                          const KeyBlock& weights, int64_t head_dim, Reference& result) {
  for (const DenseKv::NonfiniteValue& value : kv.nonfinite_values) {
    for (size_t n = 0; n < queries.size(); ++n) {
      const bool is_visible =
          std::any_of(queries[n].visible.begin(), queries[n].visible.end(),
                      [&](const KeyRange& r) { return r.begin <= value.j && value.j < r.end; });
      if (!is_visible) continue;
      const double p = weights.line(static_cast<int64_t>(n))[value.j - weights.first_key];
      const auto element = static_cast<size_t>(queries[n].position * head_dim + value.c);
      result.out[element] += p * value.value;
      result.magnitude[element] += p * std::fabs(value.value);
    }
  }
}

/// Queries that share one kv head, and what they see of it.
void attend(const Products& products, const AttentionProblem& problem, const Inputs& inputs,
            const DataStorages& storages, const DenseKv& kv, const std::vector<Query>& queries,
            Reference& result) {
  const int64_t head_dim = problem.head_dim;
  int64_t begin = std::numeric_limits<int64_t>::max(), end = 0;
  for (const Query& query : queries) {
    if (query.visible.empty()) continue;
    begin = std::min(begin, query.visible.front().begin);
    end = std::max(end, query.visible.back().end);
  }
  if (begin >= end) return;

  const auto num_queries = static_cast<int64_t>(queries.size());
  std::vector<double> q(static_cast<size_t>(num_queries * head_dim));
  for (int64_t n = 0; n < num_queries; ++n) {
    const Query& query = queries[static_cast<size_t>(n)];
    gather_query(problem, inputs, storages, query.row, query.head, q.data() + n * head_dim);
  }
  KeyBlock dot_magnitudes(num_queries, begin, end - begin);
  times_keys(products, Of::kMagnitude, q, kv.k, head_dim, dot_magnitudes);
  const double scale = static_cast<double>(problem.softmax_scale);
  KeyBlock logits(num_queries, begin, end - begin);
  times_keys(products, Of::kItself, q, kv.k, head_dim, logits);

  for (int64_t n = 0; n < num_queries; ++n) {
    const Query& query = queries[static_cast<size_t>(n)];
    const auto position = static_cast<size_t>(query.position);
    double& max_logit = result.max_logit[position];
    double& max_dot = result.max_dot_magnitude[position];
    for (const KeyRange& range : query.visible) {
      for (int64_t j = range.begin; j < range.end; ++j) {
        double& x = logits.line(n)[j - begin];
        x = logit(problem, query, j, scale * x);
        max_logit = std::max(max_logit, std::fabs(x));
        max_dot = std::max(max_dot, dot_magnitudes.line(n)[j - begin]);
      }
    }
    result.visible[position] = num_keys(query.visible);
  }

  KeyBlock weights = std::move(logits);
  for (int64_t n = 0; n < num_queries; ++n) {
    const Query& query = queries[static_cast<size_t>(n)];
    result.lse[static_cast<size_t>(query.position)] = softmax(query.visible, weights, n);
  }
  const std::vector<double> out = times_values(products, Of::kItself, weights, kv.v, head_dim);
  const std::vector<double> magnitude =
      times_values(products, Of::kMagnitude, weights, kv.v, head_dim);
  for (int64_t n = 0; n < num_queries; ++n) {
    const int64_t first = queries[static_cast<size_t>(n)].position * head_dim;
    std::copy_n(out.data() + n * head_dim, head_dim, result.out.data() + first);
    std::copy_n(magnitude.data() + n * head_dim, head_dim, result.magnitude.data() + first);
  }
  if (problem.dtype != Dtype::kF32) {
    result.low_precision_error =
        std::max(result.low_precision_error,
                 low_precision_error(products, problem, kv, queries, q, {begin, end}, result));
  }
  add_nonfinite_values(kv, queries, weights, head_dim, result);
  add_bound_terms(products, problem, kv, queries, std::move(weights), result);
}

/// The queries of rows [begin, end) of one sequence in the heads of one kv head.
std::vector<Query> make_queries(const AttentionProblem& problem, const std::vector<QueryRow>& rows,
                                size_t begin, size_t end, int64_t head_k) {
  const int64_t group = problem.num_heads / problem.num_heads_k;
  std::vector<Query> queries;
  for (size_t r = begin; r < end; ++r) {
    const std::vector<KeyRange> visible = visible_keys(problem, rows[r].sequence, rows[r].i);
    for (int64_t head = head_k * group; head < (head_k + 1) * group; ++head) {
      const int64_t position = static_cast<int64_t>(r) * problem.num_heads + head;
      queries.push_back({rows[r], head, position, visible});
    }
  }
  return queries;
}

}  // namespace

Reference reference_attention(const AttentionProblem& problem, const Inputs& inputs,
                              const DataStorages& storages, std::vector<QueryRow> rows,
                              const Products& products) {
  Reference result = make_result(problem, std::move(rows));
  for (size_t begin = 0, end = 0; begin < result.rows.size(); begin = end) {
    const int64_t sequence = result.rows[begin].sequence;
    while (end < result.rows.size() && result.rows[end].sequence == sequence) ++end;
    const int64_t seqlen_k = problem.sequences[static_cast<size_t>(sequence)].seqlen_k;
    const int64_t block =
        std::clamp<int64_t>(kMaxScores / std::max<int64_t>(seqlen_k, 1), 1, kMaxQueries);
    for (int64_t head_k = 0; head_k < problem.num_heads_k; ++head_k) {
      const DenseKv kv = gather_kv(problem, inputs, storages, sequence, head_k);
      const std::vector<Query> queries = make_queries(problem, result.rows, begin, end, head_k);
      for (auto first = queries.begin(); first != queries.end();) {
        const auto last = first + std::min<int64_t>(block, queries.end() - first);
        attend(products, problem, inputs, storages, kv, std::vector<Query>(first, last), result);
        first = last;
      }
    }
  }
  return result;
}

}  // namespace flashcheck
