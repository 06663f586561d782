#include "reference/low_precision.h"

#include <algorithm>
#include <cmath>

#include "reference/logit.h"
#include "reference/softmax.h"

namespace flashcheck {
namespace {

/// What a constant added to all logits of a row, which changes no weight, has to be so that a bias
/// of + slope * j becomes - slope * distance: FlashAttention's naive run has it so, and without it
/// rounding would be far coarser.
double distance_form(const AttentionProblem& problem, const Query& query) {
  if (problem.alibi_slopes.empty() || !problem.alibi_is_causal_form) return 0;
  const Sequence& s = problem.sequences[static_cast<size_t>(query.row.sequence)];
  return -static_cast<double>(problem.alibi_slopes[static_cast<size_t>(query.head)]) *
         static_cast<double>(query.row.i + s.seqlen_k - s.seqlen_q);
}

KeyBlock low_precision_scores(const Products& products, const AttentionProblem& problem,
                              const DenseKv& kv, const std::vector<Query>& queries,
                              const std::vector<double>& q, KeyRange keys) {
  const int64_t head_dim = problem.head_dim;
  KeyBlock scores(static_cast<int64_t>(queries.size()), keys.begin, keys.end - keys.begin);
  const GemmShape shape{.transpose_b = Transpose::kYes,
                        .m = scores.num_lines,
                        .n = scores.num_keys,
                        .k = head_dim,
                        .lda = head_dim,
                        .ldb = head_dim,
                        .ldc = scores.num_keys};
  products.low_precision_gemm(problem.dtype, shape, problem.softmax_scale, q.data(),
                              kv.k.data() + keys.begin * head_dim, scores.values.data());
  for (int64_t n = 0; n < scores.num_lines; ++n) {
    const Query& query = queries[static_cast<size_t>(n)];
    const double shift = distance_form(problem, query);
    double* const line = scores.line(n);
    for (int64_t j = 0; j < scores.num_keys; ++j) {
      line[j] = round_to(problem.dtype, logit(problem, query, keys.begin + j, line[j]) + shift);
    }
  }
  return scores;
}

}  // namespace

double low_precision_error(const Products& products, const AttentionProblem& problem,
                           const DenseKv& kv, const std::vector<Query>& queries,
                           const std::vector<double>& q, KeyRange keys, const Reference& result) {
  const int64_t head_dim = problem.head_dim;
  KeyBlock weights = low_precision_scores(products, problem, kv, queries, q, keys);
  for (int64_t n = 0; n < weights.num_lines; ++n) {
    softmax(queries[static_cast<size_t>(n)].visible, weights, n);
    double* const line = weights.line(n);
    for (int64_t j = 0; j < weights.num_keys; ++j) line[j] = round_to(problem.dtype, line[j]);
  }
  std::vector<double> out(queries.size() * static_cast<size_t>(head_dim));
  const GemmShape shape{.m = weights.num_lines,
                        .n = head_dim,
                        .k = weights.num_keys,
                        .lda = weights.num_keys,
                        .ldb = head_dim,
                        .ldc = head_dim};
  products.low_precision_gemm(problem.dtype, shape, 1, weights.values.data(),
                              kv.v.data() + keys.begin * head_dim, out.data());
  double largest = 0;
  for (size_t n = 0; n < queries.size(); ++n) {
    const double* const low = out.data() + static_cast<int64_t>(n) * head_dim;
    const double* const exact = result.out.data() + queries[n].position * head_dim;
    for (int64_t c = 0; c < head_dim; ++c) {
      largest = std::max(largest, std::fabs(low[c] - exact[c]));
    }
  }
  return largest;
}

}  // namespace flashcheck
