#include <doctest/doctest.h>

#include <algorithm>
#include <cctype>
#include <set>
#include <tuple>

#include "src/contract/contract.h"
#include "src/contract/contract_rule.h"
#include "tests/contract/calls.h"
#include "tests/contract/examples.h"

namespace flashcheck {
namespace {

bool is_kebab_case(std::string_view name) {
  const auto is_word_char = [](unsigned char c) { return std::islower(c) || std::isdigit(c); };
  return !name.empty() && is_word_char(static_cast<unsigned char>(name.front())) &&
         name.find("--") == std::string_view::npos && name.back() != '-' &&
         std::ranges::all_of(name, [&](unsigned char c) { return c == '-' || is_word_char(c); });
}

/// The function of the same op that has the longest list of steps.
const WrapperFunction* full_function(const Case& c) {
  const WrapperFunction& function = *c.function;
  if (function.paged) return &function;
  return find_function(function.wrapper,
                       function.varlen ? "flash_attn_varlen_alibi" : "flash_attn_alibi");
}

std::vector<Example> all_examples() {
  std::vector<Example> all;
  for (auto examples : {fixed_examples, varlen_examples, paged_examples, v3_fixed_examples,
                        v3_varlen_examples, no_wrapper_examples}) {
    for (Example& example : examples()) all.push_back(std::move(example));
  }
  return all;
}

}  // namespace

TEST_CASE("codes ascend, names are kebab-case and unique, no text is missing") {
  std::set<std::string_view> names;
  std::string_view last;
  for (const Rule* rule : contract_rules()) {
    CAPTURE(rule->code);
    CHECK(rule->code.size() == 7);
    CHECK(rule->code.starts_with("FC-E"));
    CHECK(rule->code > last);
    last = rule->code;
    CHECK(is_kebab_case(rule->name));
    CHECK(names.insert(rule->name).second);
    CHECK(rule->severity == Severity::kError);
    CHECK_FALSE(rule->message.empty());
    CHECK((rule->why.ends_with('.') || rule->why.ends_with(".)")));
    CHECK(rule->fix.ends_with('.'));
    CHECK_FALSE(rule->source.empty());
  }
}

TEST_CASE("every rule speaks in some example") {
  std::set<std::string_view> spoken;
  for (const Example& example : all_examples()) {
    spoken.insert(check_contract(example.c).findings.at(0).rule->code);
  }
  for (const Rule* rule : contract_rules()) {
    CAPTURE(rule->code);
    CHECK(spoken.contains(rule->code));
  }
}

TEST_CASE("every step of every function is the first to fail in some example") {
  using Key = std::tuple<const WrapperFunction*, std::string_view, std::string>;
  std::set<Key> spoken;
  for (const Example& example : all_examples()) {
    const Finding first = check_contract(example.c).findings.at(0);
    spoken.insert({example.c.function, first.rule->code, first.source});
  }
  const auto is_exercised = [&](const WrapperFunction* function, const ContractStepInfo& step) {
    return spoken.contains({function, step.rule->code, std::string(step.source)});
  };
  // A function of each op; the plain one and the one with slopes together cover its list.
  const Case bases[][2] = {
      {fixed_call(), fixed_alibi_call()},
      {varlen_call(), varlen_alibi_call()},
      {paged_call(), paged_ranges_call()},
      {fixed_call(Wrapper::kCandleFlashAttnV3), fixed_alibi_call(Wrapper::kCandleFlashAttnV3)},
      {varlen_call(Wrapper::kCandleFlashAttnV3), varlen_alibi_call(Wrapper::kCandleFlashAttnV3)}};
  for (const auto& [plain, full] : bases) {
    for (const ContractStepInfo& step : contract_steps(*full.function)) {
      CAPTURE(step.rule->code);
      CAPTURE(step.source);
      CHECK((is_exercised(plain.function, step) || is_exercised(full.function, step)));
    }
  }
}

TEST_CASE("the steps stand in the order in which the examples were written down") {
  for (auto examples :
       {fixed_examples, varlen_examples, paged_examples, v3_fixed_examples, v3_varlen_examples}) {
    size_t last = 0;
    for (const Example& example : examples()) {
      const std::vector<ContractStepInfo> steps = contract_steps(*full_function(example.c));
      const std::string where = check_contract(example.c).findings.at(0).where;
      size_t index = last;
      while (index < steps.size() &&
             !(steps[index].rule->code == example.code && steps[index].source == example.source &&
               where.find(steps[index].subject) != std::string::npos)) {
        ++index;
      }
      CAPTURE(example.code);
      CAPTURE(example.source);
      REQUIRE(index < steps.size());
      last = index;
    }
  }
}

TEST_CASE("steps about slopes belong to functions with slopes") {
  const auto count_slopes = [](const Case& c) {
    return std::ranges::count_if(contract_steps(*c.function), [](const ContractStepInfo& step) {
      return step.subject == "alibi_slopes";
    });
  };
  CHECK(count_slopes(fixed_call()) == 0);
  CHECK(count_slopes(fixed_alibi_call()) == 5);
  CHECK(count_slopes(varlen_alibi_call(Wrapper::kCandleFlashAttnV3)) == 5);
}

TEST_CASE("every message can be read back through its template") {
  for (const Example& example : all_examples()) {
    for (const Finding& finding : check_contract(example.c).findings) {
      CAPTURE(finding.message);
      std::vector<FindingArg> args;
      REQUIRE(match_template(finding.rule->message, finding.message, args));
      CHECK(fill_template(finding.rule->message, args) == finding.message);
      for (const FindingArg& arg : args) {
        const bool is_as_filled = std::ranges::any_of(finding.args, [&](const FindingArg& filled) {
          return filled.name == arg.name && filled.value == arg.value;
        });
        CHECK(is_as_filled);
      }
    }
  }
}

}  // namespace flashcheck
