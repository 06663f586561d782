#include <iostream>
#include <optional>
#include <string>

#include "src/cli/commands.h"
#include "src/cli/terminal.h"
#include "src/report/rule_docs.h"
#include "src/report/rule_registry.h"

namespace flashcheck {

ExitStatus explain_command(const ExplainOptions& options) {
  ExitStatus status = ExitStatus::kOk;
  bool is_first = true;
  for (const std::string& subject : options.subjects) {
    const Rule* rule = find_rule(subject);
    const std::string page =
        rule ? explain_rule(*rule, text_width()) : explain_message(subject, text_width());
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
