#include <doctest/doctest.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <tuple>

#include "src/contract/contract.h"
#include "tests/cases/shipped.h"

namespace flashcheck {
namespace {

/// The rule that a file is named after: the longest whose name follows "contract-". Null if none.
const Rule* rule_of(std::string_view stem) {
  constexpr std::string_view kPrefix = "contract-";
  if (!stem.starts_with(kPrefix)) return nullptr;
  stem.remove_prefix(kPrefix.size());
  const Rule* longest = nullptr;
  for (const Rule* rule : contract_rules()) {
    const bool is_named = stem == rule->name || (stem.starts_with(rule->name) &&
                                                 stem.substr(rule->name.size()).starts_with('-'));
    if (is_named && (!longest || rule->name.size() > longest->name.size())) longest = rule;
  }
  return longest;
}

/// What the wrapper says to a case, in the words of `expect`; "" where it accepts.
std::string said(const Outcome& outcome) {
  switch (outcome.kind) {
    case Outcome::Kind::kLaunch:
      return "";
    case Outcome::Kind::kError:
      return "error: " + outcome.findings.front().message;
    case Outcome::Kind::kPanic:
      return "panic: " + outcome.findings.front().message;
  }
  return "";
}

/// "k" of "/tensors/k/strides"; "" where the finding is not about a tensor.
std::string_view subject_of(const Finding& finding) {
  constexpr std::string_view kPrefix = "/tensors/";
  std::string_view where = finding.where;
  if (!where.starts_with(kPrefix)) return "";
  where.remove_prefix(kPrefix.size());
  return where.substr(0, where.find('/'));
}

std::string demanded(const Expect& expect) {
  if (expect.error) return "error: " + *expect.error;
  if (expect.panic) return "panic: " + *expect.panic;
  return "";
}

}  // namespace

TEST_CASE("the wrapper says to every shipped case what the case expects") {
  REQUIRE(shipped_cases().size() >= 600);
  for (const Case& c : shipped_cases()) {
    CAPTURE(c.id);
    REQUIRE(c.expect.has_value());
    const bool demands_something = c.expect->verdict || c.expect->error || c.expect->panic ||
                                   c.expect->hazards || !c.expect->launch.empty();
    CHECK(demands_something);
    CHECK(said(check_contract(c)) == demanded(*c.expect));
  }
}

TEST_CASE("each rule has a file whose control is accepted and whose tests break that rule alone") {
  std::map<const Rule*, int> controls, refusals;
  for (const Case& c : shipped_cases()) {
    const Rule* rule = rule_of(stem_of(c));
    if (!rule) continue;
    CAPTURE(c.id);
    const Outcome outcome = check_contract(c);
    if (is_control(c)) {
      CHECK(outcome.kind == Outcome::Kind::kLaunch);
      ++controls[rule];
      continue;
    }
    if (outcome.kind == Outcome::Kind::kLaunch) continue;  // the other side of the limit
    ++refusals[rule];
    for (const Finding& finding : outcome.findings) CHECK(finding.rule->name == rule->name);
  }
  for (const Rule* rule : contract_rules()) {
    CAPTURE(rule->name);
    CHECK(controls[rule] >= 1);
    CHECK(refusals[rule] >= 1);
  }
}

TEST_CASE("every check of every function speaks in some shipped case") {
  using Check = std::tuple<std::string, bool, bool, std::string, std::string, std::string>;
  const auto check_of = [](const WrapperFunction& function, std::string_view source,
                           std::string_view rule, std::string_view subject) {
    return Check{name_of(function.wrapper), function.varlen, function.paged, source, rule, subject};
  };
  std::set<Check> spoken;
  for (const Case& c : shipped_cases()) {
    const Outcome outcome = check_contract(c);
    if (outcome.findings.empty()) continue;
    const Finding& finding = outcome.findings.front();
    spoken.insert(check_of(*c.function, finding.source, finding.rule->name, ""));
    spoken.insert(check_of(*c.function, finding.source, finding.rule->name, subject_of(finding)));
  }
  for (const WrapperFunction& function : wrapper_functions()) {
    for (const ContractStepInfo& step : contract_steps(function)) {
      CAPTURE(name_of(function.wrapper));
      CAPTURE(function.name);
      CAPTURE(step.subject);
      CAPTURE(step.source);
      CAPTURE(step.rule->name);
      CHECK(spoken.contains(check_of(function, step.source, step.rule->name, step.subject)));
    }
  }
}

TEST_CASE("each order fact holds two faults, and all 22 are there") {
  // One value that two checks refuse is told once, by the first of them.
  const std::set<std::string> one_value{"o11", "o20", "o21"};
  std::set<std::string> facts;
  for (const Case& c : shipped_cases()) {
    if (!stem_of(c).starts_with("contract-order") || is_control(c)) continue;
    CAPTURE(c.id);
    const size_t begin = c.id.find("/o") + 1;
    const std::string fact = c.id.substr(begin, c.id.find('-', begin) - begin);
    CHECK(check_contract(c).findings.size() >= (one_value.contains(fact) ? 1 : 2));
    facts.insert(fact);
  }
  for (int fact = 1; fact <= 22; ++fact) CHECK(facts.contains("o" + std::to_string(fact)));
}

}  // namespace flashcheck
