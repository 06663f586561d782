#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace flashcheck {

enum class Severity : uint8_t { kError, kWarning, kInformation };
std::string_view name_of(Severity severity);

/// All that is known of a rule before it meets a call. Rules live for ever, as constants beside the
/// condition they word.
struct Rule {
  std::string_view code;  // "FC-E012", never reused
  std::string_view name;  // kebab-case, states the defect: "kv-heads-do-not-divide"
  Severity severity = Severity::kError;
  std::string_view message;  // with {placeholders}, one for each argument a finding fills in
  std::string_view why;      // plain sentences, Markdown allowed
  std::string_view fix;      // in general; a finding may say it with the call's own numbers
  std::string_view source;   // where the rule comes from: file:line in candle, paper, section
};

/// A value that fills a placeholder.
struct FindingArg {
  std::string name, value;
};

/// A rule, where it is broken, and the facts.
struct Finding {
  const Rule* rule = nullptr;
  std::string where;  // JSON pointer into the case: "/tensors/k/shape"; "" is the whole
  std::vector<FindingArg> args;
  std::string message;               // the template, filled: exact where it is a wrapper's text
  std::vector<std::string> details;  // further lines with facts: sequences, rows, addresses
  std::string fix;                   // with this call's numbers; empty: the rule's
  std::string source;                // file:line of the check that spoke; empty: the rule's

  /// The fix and the source to show: its own, or the rule's.
  std::string_view fix_text() const { return fix.empty() ? rule->fix : std::string_view(fix); }
  std::string_view source_text() const {
    return source.empty() ? rule->source : std::string_view(source);
  }
};

/// Fills {placeholders}; "{{" and "}}" stand for single braces. A placeholder without an argument
/// is a bug of ours: std::logic_error.
std::string fill_template(std::string_view text, const std::vector<FindingArg>& args);

/// Reads a message back: the arguments that fill_template would have needed to make it, or nothing.
/// Where a split is ambiguous the shortest values win.
bool match_template(std::string_view text, std::string_view message, std::vector<FindingArg>& args);

/// A finding of `rule` with its message filled in.
Finding make_finding(const Rule& rule, std::string where, std::vector<FindingArg> args);

}  // namespace flashcheck
