#pragma once

#include <optional>
#include <span>
#include <vector>

#include "src/hazards/tile_sizes.h"
#include "src/spec/attention_problem.h"
#include "src/spec/case.h"
#include "src/spec/finding.h"

namespace flashcheck {

/// A call whose numbers can be judged: what the lint rules look at.
struct LintCase {
  const Case* c = nullptr;  // outlives this
  AttentionProblem problem;
  TileSizes tile;  // of candle's kernel for it
};

/// Nothing if the wrapper refuses the call, if it is not known to be memory-safe, or if it has
/// nothing to compute: no numbers are judged then.
std::optional<LintCase> lint_case(const Case& c);

/// The faults to which all of these tests together are blind: what each of them leaves unshown. A
/// rule about paging asks the paged ones alone, and so on. Findings are ascending by code, of
/// severity information, and their place is the whole.
std::vector<Finding> lint(const std::vector<LintCase>& suite);

/// Every FC-Lnnn rule, ascending.
std::span<const Rule* const> lint_rules();

}  // namespace flashcheck
