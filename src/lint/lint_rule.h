#pragma once

#include <algorithm>
#include <span>
#include <string>
#include <string_view>

#include "src/lint/lint.h"
#include "src/spec/finding.h"

namespace flashcheck {

/// A fault that a test can only show if something about it is so. A suite is blind if the rule
/// applies to some of its tests and none of those can show it. The message has one placeholder,
/// {seen}; `why` names the faults that would pass.
struct LintRule {
  Rule rule;
  bool (*applies)(const LintCase& test);
  bool (*can_show)(const LintCase& test);     // precondition: applies
  std::string (*seen)(const LintCase& test);  // what it has instead; precondition: applies
};

// One array a family, each in ascending order of code.
std::span<const LintRule> paging_lint();  // FC-L101: block tables and pages
std::span<const LintRule> length_lint();  // FC-L201: batch and lengths
std::span<const LintRule> head_lint();    // FC-L301: heads and head_dim
std::span<const LintRule> layout_lint();  // FC-L401: strides and offsets
std::span<const LintRule> mask_lint();    // FC-L501: windows and ranges
std::span<const LintRule> value_lint();   // FC-L601: values, scale and softcap

/// The source of a rule that follows from what the fault leaves unchanged.
inline constexpr std::string_view kFollows = "the fault changes no output element of such a test";

inline bool always(const LintCase&) { return true; }
inline bool is_paged(const LintCase& test) { return test.problem.is_paged; }

template <typename Predicate>
bool any_sequence(const LintCase& test, Predicate holds) {
  const auto& sequences = test.problem.sequences;
  return std::any_of(sequences.begin(), sequences.end(), holds);
}

}  // namespace flashcheck
