#include "reference/low_precision.h"

#include <algorithm>
#include <cmath>

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

}  // namespace

double low_precision_error(const AttentionProblem& problem, const DenseKv& kv,
                           const std::vector<Query>& queries, KeyBlock logits,
                           const Reference& result) {
  for (int64_t n = 0; n < logits.num_lines; ++n) {
    const Query& query = queries[static_cast<size_t>(n)];
    const double shift = distance_form(problem, query);
    double* const line = logits.line(n);
    for (int64_t j = 0; j < logits.num_keys; ++j) {
      line[j] = round_to(problem.dtype, line[j] + shift);
    }
    softmax(query.visible, logits, n);
    for (int64_t j = 0; j < logits.num_keys; ++j) line[j] = round_to(problem.dtype, line[j]);
  }
  const std::vector<double> out = times_values(Of::kItself, logits, kv.v, problem.head_dim);
  double largest = 0;
  for (size_t n = 0; n < queries.size(); ++n) {
    const double* const low = out.data() + static_cast<int64_t>(n) * problem.head_dim;
    const double* const exact = result.out.data() + queries[n].position * problem.head_dim;
    for (int64_t c = 0; c < problem.head_dim; ++c) {
      largest = std::max(largest, std::fabs(round_to(problem.dtype, low[c]) - exact[c]));
    }
  }
  return largest;
}

}  // namespace flashcheck
