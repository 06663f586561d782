#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "reference/visible_keys.h"
#include "src/spec/attention_problem.h"
#include "src/spec/case.h"
#include "src/spec/tensor.h"

namespace flashcheck {

/// What of a call can be drawn, be it accepted or refused: lengths, table and mask as far as ranks
/// and known values allow.
struct DrawnCall {
  /// Sequences, windows, ranges and page size alone; strides are read from the case.
  AttentionProblem problem;
  int64_t num_sequences = 0;  // more than the problem's: of a fixed-length batch only a few count
  /// The table's rows as declared; nothing if its values are unknown or it is none.
  std::optional<std::vector<std::vector<int64_t>>> block_table;
  std::vector<std::string> unknown;  // sentences: what cannot be drawn, and why
};

/// `small` holds the values of lengths, tables and ranges (make_inputs without data); null if they
/// could not be made. `max_equal_sequences`: of a fixed-length batch.
DrawnCall drawn_call(const Case& c, const Inputs* small, int64_t max_equal_sequences);

/// The keys of a sequence that some query row sees: ascending ranges that do not touch.
std::vector<KeyRange> seen_keys(const AttentionProblem& problem, int64_t sequence);

}  // namespace flashcheck
