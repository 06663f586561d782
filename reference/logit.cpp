#include "reference/logit.h"

#include <cmath>
#include <cstdlib>

namespace flashcheck {

double logit(const AttentionProblem& problem, const Query& query, int64_t j, double scaled) {
  double x = scaled;
  if (problem.softcap) {
    const double cap = static_cast<double>(*problem.softcap);
    x = cap * std::tanh(x / cap);
  }
  if (!problem.alibi_slopes.empty()) {
    const Sequence& s = problem.sequences[static_cast<size_t>(query.row.sequence)];
    const double slope = static_cast<double>(problem.alibi_slopes[static_cast<size_t>(query.head)]);
    const int64_t position = query.row.i + s.seqlen_k - s.seqlen_q;
    x += problem.alibi_is_causal_form ? slope * static_cast<double>(j)
                                      : -slope * static_cast<double>(std::abs(position - j));
  }
  return x;
}

}  // namespace flashcheck
