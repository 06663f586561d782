#include "src/report/rule_registry.h"

#include <algorithm>
#include <cctype>
#include <string>

#include "src/compare/judge.h"
#include "src/contract/contract.h"
#include "src/execution_rules.h"
#include "src/hazards/hazards.h"
#include "src/inputs/input_rules.h"
#include "src/lint/lint.h"
#include "src/load/load.h"
#include "src/spec/nearest.h"

namespace flashcheck {
namespace {

bool equal_ignoring_case(std::string_view a, std::string_view b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](char x, char y) {
    return std::tolower(static_cast<unsigned char>(x)) ==
           std::tolower(static_cast<unsigned char>(y));
  });
}

/// What people paste comes with a log's prefix, quotes or a wrapper around it.
std::string_view trimmed(std::string_view text) {
  constexpr std::string_view kAround = " \t\r\n\"'`";
  const size_t begin = text.find_first_not_of(kAround);
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(kAround) - begin + 1);
}

std::vector<MessageMatch> match_exactly(std::string_view message) {
  std::vector<MessageMatch> matches;
  for (const RuleFamily& family : rule_families()) {
    for (const Rule* rule : family.rules) {
      MessageMatch match{.rule = rule};
      if (match_template(rule->message, message, match.args)) matches.push_back(std::move(match));
    }
  }
  return matches;
}

}  // namespace

std::vector<RuleFamily> rule_families() {
  return {
      {"FC-C", "What is wrong with a case file", case_file_rules()},
      {"FC-E", "What the wrapper refuses", contract_rules()},
      {"FC-H", "What the wrapper accepts and should not", hazard_rules()},
      {"FC-L", "What tests could not have shown", lint_rules()},
      {"FC-M", "What is wrong with the numbers", mismatch_rules()},
      {"FC-X", "Why a call was not run", input_rules()},
      {"FC-X", "Why a call was not run", execution_rules()},
  };
}

const Rule* find_rule(std::string_view code_or_name) {
  for (const RuleFamily& family : rule_families()) {
    for (const Rule* rule : family.rules) {
      if (equal_ignoring_case(rule->code, code_or_name) || rule->name == code_or_name) return rule;
    }
  }
  return nullptr;
}

std::vector<MessageMatch> match_message(std::string_view message) {
  std::string_view text = trimmed(message);
  std::vector<MessageMatch> matches = match_exactly(text);
  // "Error: …", "thread 'main' panicked at …: …": drop what stands before a colon and try again.
  for (size_t colon = text.find(": "); matches.empty() && colon != std::string_view::npos;
       colon = text.find(": ")) {
    text.remove_prefix(colon + 2);
    matches = match_exactly(trimmed(text));
  }
  return matches;
}

std::optional<std::string> nearest_rule(std::string_view code_or_name) {
  std::vector<std::string> known;
  for (const RuleFamily& family : rule_families()) {
    for (const Rule* rule : family.rules) {
      known.emplace_back(rule->code);
      known.emplace_back(rule->name);
    }
  }
  return nearest(code_or_name, known);
}

}  // namespace flashcheck
