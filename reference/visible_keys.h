#pragma once

#include <cstdint>
#include <vector>

#include "src/spec/attention_problem.h"

namespace flashcheck {

/// Keys [begin, end) of one sequence.
struct KeyRange {
  int64_t begin = 0, end = 0;
};

/// The keys that a query row sees, as ascending ranges that neither touch nor overlap: the same set
/// as AttentionProblem::is_visible, without asking for every key.
std::vector<KeyRange> visible_keys(const AttentionProblem& problem, int64_t sequence, int64_t i);

int64_t num_keys(const std::vector<KeyRange>& ranges);

}  // namespace flashcheck
