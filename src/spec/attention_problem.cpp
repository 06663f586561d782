#include "src/spec/attention_problem.h"

namespace flashcheck {

bool AttentionProblem::is_visible(int64_t sequence, int64_t i, int64_t j) const {
  const Sequence& s = sequences[static_cast<size_t>(sequence)];
  if (j < 0 || j >= s.seqlen_k) return false;
  const int64_t p = i + s.seqlen_k - s.seqlen_q;
  const bool left_hides = window_size_left && j < p - *window_size_left;
  const bool right_hides = window_size_right && j > p + *window_size_right;
  if (!left_hides && !right_hides) return true;
  if (mm_prefix_ranges.empty()) return false;
  for (const auto& [begin, end] : mm_prefix_ranges[static_cast<size_t>(sequence)]) {
    if (begin <= p && p < end && begin <= j && j < end) return true;
  }
  return false;
}

}  // namespace flashcheck
