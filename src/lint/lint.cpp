#include "src/lint/lint.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <string>

#include "src/contract/contract.h"
#include "src/contract/problem.h"
#include "src/hazards/hazards.h"
#include "src/inputs/inputs.h"
#include "src/lint/lint_rule.h"

namespace flashcheck {
namespace {

constexpr size_t kMaxSeen = 3;  // a line, not a list of all tests

const std::vector<std::span<const LintRule>>& lint_families() {
  static const std::vector<std::span<const LintRule>> families{
      paging_lint(), length_lint(), head_lint(), layout_lint(), mask_lint(), value_lint()};
  return families;
}

/// What the tests have in common, each once.
std::string seen_in(const std::vector<const LintCase*>& tests, const LintRule& rule) {
  std::vector<std::string> seen;
  for (const LintCase* test : tests) {
    std::string text = rule.seen(*test);
    if (std::find(seen.begin(), seen.end(), text) == seen.end()) seen.push_back(std::move(text));
  }
  const size_t shown = std::min(seen.size(), kMaxSeen);
  std::string text = fmt::format(
      "{}", fmt::join(seen.begin(), seen.begin() + static_cast<std::ptrdiff_t>(shown), "; "));
  return seen.size() > shown ? text + fmt::format("; and {} more", seen.size() - shown) : text;
}

/// Whether all elements of a small tensor have been made: make_inputs leaves very large ones out.
bool is_made(const Case& c, TensorName name, const Inputs& small) {
  const TensorSpec& tensor = c.at(name);
  const StorageBytes& storage = small.storages[static_cast<size_t>(tensor.storage)];
  return tensor.offset + *tensor.span() <= storage.size_bytes() / size_in_bytes(tensor.dtype);
}

/// What the caller meant. ALiBi slopes that are not made are left out.
AttentionProblem problem_of(const Case& c, const LaunchParams& launch, const Inputs& small) {
  if (!c.find(TensorName::kAlibiSlopes) || is_made(c, TensorName::kAlibiSlopes, small)) {
    return declared_problem(c, launch, small);
  }
  Case without = c;
  without.tensors[static_cast<size_t>(TensorName::kAlibiSlopes)].reset();
  return declared_problem(without, launch, small);
}

}  // namespace

std::optional<LintCase> lint_case(const Case& c) {
  if (c.q().num_elements() == 0) return std::nullopt;
  const Outcome outcome = check_contract(c);
  if (!outcome.launch) return std::nullopt;
  try {
    const Inputs small = make_inputs(c, /*with_data=*/false);
    if (!find_hazards(c, *outcome.launch, small).is_memory_safe) return std::nullopt;
    return LintCase{.c = &c,
                    .problem = problem_of(c, *outcome.launch, small),
                    .tile = tile_sizes(*c.function, *outcome.launch)};
  } catch (const InputError&) {
    return std::nullopt;
  }
}

std::vector<Finding> lint(const std::vector<LintCase>& suite) {
  std::vector<Finding> findings;
  for (const std::span<const LintRule> family : lint_families()) {
    for (const LintRule& rule : family) {
      std::vector<const LintCase*> concerned;
      for (const LintCase& test : suite) {
        if (rule.applies(test)) concerned.push_back(&test);
      }
      const auto can_show = [&](const LintCase* test) { return rule.can_show(*test); };
      if (concerned.empty() || std::any_of(concerned.begin(), concerned.end(), can_show)) continue;
      findings.push_back(make_finding(rule.rule, "", {{"seen", seen_in(concerned, rule)}}));
    }
  }
  return findings;
}

std::span<const Rule* const> lint_rules() {
  static const std::vector<const Rule*> rules = [] {
    std::vector<const Rule*> all;
    for (const std::span<const LintRule> family : lint_families()) {
      for (const LintRule& rule : family) all.push_back(&rule.rule);
    }
    return all;
  }();
  return rules;
}

}  // namespace flashcheck
