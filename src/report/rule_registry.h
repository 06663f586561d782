#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "src/spec/finding.h"

namespace flashcheck {

/// A family of codes and what it is about.
struct RuleFamily {
  std::string_view prefix;  // "FC-E"
  std::string_view title;   // "What the wrapper refuses"
  std::span<const Rule* const> rules;
};

/// Every rule there is: families in the order of the pipeline, rules ascending by code.
std::vector<RuleFamily> rule_families();

/// The rule of a code ("FC-E012" or "E012", in any case) or a name; null if there is none.
const Rule* find_rule(std::string_view code_or_name);

/// Rules whose message a text is, and the values read back from it. Several rules may word the
/// same.
struct MessageMatch {
  const Rule* rule;
  std::vector<FindingArg> args;
};
std::vector<MessageMatch> match_message(std::string_view message);

/// Rules whose name or message holds this text, whatever the case, in order of code.
std::vector<const Rule*> search_rules(std::string_view text);

/// What a device says when an accepted call goes wrong, and the hazards that do it.
struct Symptom {
  std::string_view says;  // a piece of the message, in lower case
  std::string_view means;
  std::vector<std::string_view> codes;
};
/// The symptom that a pasted device error shows; null if none.
const Symptom* find_symptom(std::string_view message);

/// The code or name nearest to what was asked for, for a hint; nothing if none is near.
std::optional<std::string> nearest_rule(std::string_view code_or_name);

}  // namespace flashcheck
