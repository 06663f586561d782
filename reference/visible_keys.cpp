#include "reference/visible_keys.h"

#include <algorithm>

namespace flashcheck {
namespace {

/// What the mask alone leaves, before any prefix range.
KeyRange inside_window(const AttentionProblem& problem, const Sequence& s, int64_t position) {
  // A wider window than this hides nothing, and the sums below cannot overflow.
  const int64_t widest = s.seqlen_q + s.seqlen_k;
  KeyRange range{0, s.seqlen_k};
  if (problem.window_size_left) {
    const int64_t left = std::min(*problem.window_size_left, widest);
    range.begin = std::max<int64_t>(0, position - left);
  }
  if (problem.window_size_right) {
    const int64_t right = std::min(*problem.window_size_right, widest);
    range.end = std::min(s.seqlen_k, position + right + 1);
  }
  return range;
}

}  // namespace

std::vector<KeyRange> visible_keys(const AttentionProblem& problem, int64_t sequence, int64_t i) {
  const Sequence& s = problem.sequences[static_cast<size_t>(sequence)];
  const int64_t position = i + s.seqlen_k - s.seqlen_q;
  std::vector<KeyRange> found{inside_window(problem, s, position)};
  if (!problem.mm_prefix_ranges.empty()) {
    for (const auto& [begin, end] : problem.mm_prefix_ranges[static_cast<size_t>(sequence)]) {
      if (begin > position || position >= end) continue;
      found.push_back({std::max<int64_t>(begin, 0), std::min(end, s.seqlen_k)});
    }
  }
  std::erase_if(found, [](const KeyRange& range) { return range.begin >= range.end; });
  std::sort(found.begin(), found.end(),
            [](const KeyRange& a, const KeyRange& b) { return a.begin < b.begin; });
  std::vector<KeyRange> joined;
  for (const KeyRange& range : found) {
    if (!joined.empty() && range.begin <= joined.back().end) {
      joined.back().end = std::max(joined.back().end, range.end);
    } else {
      joined.push_back(range);
    }
  }
  return joined;
}

int64_t num_keys(const std::vector<KeyRange>& ranges) {
  int64_t count = 0;
  for (const KeyRange& range : ranges) count += range.end - range.begin;
  return count;
}

}  // namespace flashcheck
