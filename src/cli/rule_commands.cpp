#include <iostream>
#include <optional>
#include <string>

#include "src/cli/commands.h"
#include "src/cli/terminal.h"
#include "src/report/rule_docs.h"
#include "src/report/rule_registry.h"

namespace flashcheck {
namespace {

/// A code or a name, a message, a device's error, or a piece of a name or a message.
std::string page_of(const std::string& subject, int width) {
  if (const Rule* rule = find_rule(subject)) return explain_rule(*rule, width);
  std::string page = explain_message(subject, width);
  if (page.empty()) page = explain_symptom(subject, width);
  return page.empty() ? list_rules_with(subject) : page;
}

}  // namespace

ExitStatus explain_command(const ExplainOptions& options) {
  ExitStatus status = ExitStatus::kOk;
  bool is_first = true;
  for (const std::string& subject : options.subjects) {
    const std::string page = page_of(subject, text_width());
    if (page.empty()) {
      std::cerr << "flashcheck: no rule has this code, name or message: " << subject;
      if (const std::optional<std::string> near = nearest_rule(subject)) {
        std::cerr << " (the nearest is " << *near << ")";
      }
      std::cerr << "\n`flashcheck rules` lists them all.\n";
      status = ExitStatus::kUsage;
      continue;
    }
    if (!is_first) std::cout << '\n';
    std::cout << page;
    is_first = false;
  }
  return status;
}

ExitStatus rules_command(const RulesOptions& options) {
  std::cout << (options.markdown ? rules_markdown() : rules_list());
  return ExitStatus::kOk;
}

}  // namespace flashcheck
