#pragma once

#include <string>
#include <string_view>

#include "src/spec/finding.h"

namespace flashcheck {

/// The offline page of one rule: message, why, fix, source, and for a contract rule the functions
/// that make the check. Wrapped to `width` columns.
std::string explain_rule(const Rule& rule, int width);

/// Pages of the rules that word this message, with the values read back; empty if none does.
std::string explain_message(std::string_view message, int width);

/// What a pasted device error means, with the hazards that end in it; empty if none does.
std::string explain_symptom(std::string_view message, int width);
/// The rules that hold this text in their name or message, a line each; empty if none does.
std::string list_rules_with(std::string_view text);

/// A line a rule: code, severity, name.
std::string rules_list();
/// docs/rules.md.
std::string rules_markdown();

}  // namespace flashcheck
