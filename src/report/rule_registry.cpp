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

std::string lowered(std::string_view text) {
  std::string lower(text);
  for (char& c : lower) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return lower;
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
      if (equal_ignoring_case(rule->code, code_or_name) ||
          equal_ignoring_case(rule->code.substr(3), code_or_name) || rule->name == code_or_name) {
        return rule;
      }
    }
  }
  return nullptr;
}

std::vector<MessageMatch> match_message(std::string_view message) {
  // Of a backtrace the message is the first line; in Rust's Debug of an error it is in quotes.
  std::string_view text = trimmed(message);
  text = trimmed(text.substr(0, text.find('\n')));
  std::vector<MessageMatch> matches = match_exactly(text);
  const size_t open = text.find('"'), close = text.rfind('"');
  if (matches.empty() && open < close) {
    matches = match_exactly(text.substr(open + 1, close - open - 1));
  }
  // "Error: …", "thread 'main' panicked at …: …": drop what stands before a colon and try again.
  for (size_t colon = text.find(": "); matches.empty() && colon != std::string_view::npos;
       colon = text.find(": ")) {
    text.remove_prefix(colon + 2);
    matches = match_exactly(trimmed(text));
  }
  return matches;
}

std::vector<const Rule*> search_rules(std::string_view text) {
  std::vector<const Rule*> found;
  const std::string wanted = lowered(trimmed(text));
  if (wanted.empty()) return found;
  for (const RuleFamily& family : rule_families()) {
    for (const Rule* rule : family.rules) {
      if (lowered(rule->message).find(wanted) != std::string::npos ||
          rule->name.find(wanted) != std::string_view::npos) {
        found.push_back(rule);
      }
    }
  }
  return found;
}

const Symptom* find_symptom(std::string_view message) {
  static const std::vector<Symptom> symptoms{
      {"misaligned",
       "q, k or v does not lie on 16 bytes: its offset or a stride is odd",
       {"FC-H101", "FC-H102"}},
      {"illegal memory access",
       "the kernel read or wrote outside an allocation",
       {"FC-H103", "FC-H203", "FC-H205", "FC-H302", "FC-H303", "FC-H304"}},
      {"illegal_address",
       "the kernel read or wrote outside an allocation",
       {"FC-H103", "FC-H203", "FC-H205", "FC-H302", "FC-H303", "FC-H304"}},
  };
  const std::string text = lowered(message);
  for (const Symptom& symptom : symptoms) {
    if (text.find(symptom.says) != std::string::npos) return &symptom;
  }
  return nullptr;
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
