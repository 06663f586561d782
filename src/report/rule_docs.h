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

/// A line a rule: code, severity, name.
std::string rules_list();
/// docs/rules.md.
std::string rules_markdown();

}  // namespace flashcheck
