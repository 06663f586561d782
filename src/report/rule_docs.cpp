#include "src/report/rule_docs.h"

#include <fmt/format.h>

#include <set>
#include <vector>

#include "src/contract/contract.h"
#include "src/report/rule_registry.h"
#include "src/report/text_block.h"
#include "src/spec/wrapper_function.h"

namespace flashcheck {
namespace {

/// Where a contract rule stands in the wrappers' sources, each place once, in order of the
/// functions.
std::vector<std::string> places_of(const Rule& rule) {
  std::vector<std::string> places;
  std::set<std::string> seen;
  for (const WrapperFunction& function : wrapper_functions()) {
    if (function.wrapper == Wrapper::kNone) continue;
    for (const ContractStepInfo& step : contract_steps(function)) {
      if (step.rule != &rule) continue;
      std::string place(step.source);
      if (!step.subject.empty()) place += fmt::format(" ({})", step.subject);
      if (seen.insert(place).second) places.push_back(std::move(place));
    }
  }
  return places;
}

/// For a Markdown table: a pipe would end the cell.
std::string in_cell(std::string_view text) {
  std::string cell;
  for (char c : text) cell += c == '|' ? "\\|" : std::string(1, c);
  return cell;
}

std::string markdown_of(const Rule& rule) {
  std::string page = fmt::format("### {} {}\n\n", rule.code, rule.name);
  page += fmt::format("Message: `{}`\n\n{}\n\n*Fix:* {}\n\n", rule.message, rule.why, rule.fix);
  const std::vector<std::string> places = places_of(rule);
  if (places.empty()) return page + fmt::format("*Source:* {}\n\n", rule.source);
  page += "*Source:*\n\n";
  for (const std::string& place : places) page += fmt::format("- {}\n", place);
  return page + "\n";
}

std::string list_line(const Rule& rule) {
  return fmt::format("{}  {:<11}  {}\n", rule.code, name_of(rule.severity), rule.name);
}

}  // namespace

std::string explain_rule(const Rule& rule, int width) {
  std::string page = fmt::format("{} {} ({})\n", rule.code, rule.name, name_of(rule.severity));
  page += labelled("says", rule.message, width);
  page += labelled("why", rule.why, width);
  page += labelled("fix", rule.fix, width);
  const std::vector<std::string> places = places_of(rule);
  if (places.empty()) return page + labelled("source", rule.source, width);
  for (size_t i = 0; i < places.size(); ++i) {
    page += labelled(i == 0 ? "source" : "", places[i], width);
  }
  return page;
}

std::string explain_message(std::string_view message, int width) {
  std::string pages;
  for (const MessageMatch& match : match_message(message)) {
    if (!pages.empty()) pages += '\n';
    pages += explain_rule(*match.rule, width);
    for (const FindingArg& arg : match.args) {
      pages += labelled("read", fmt::format("{} = {}", arg.name, arg.value), width);
    }
  }
  return pages;
}

std::string explain_symptom(std::string_view message, int width) {
  const Symptom* symptom = find_symptom(message);
  if (!symptom) return "";
  std::string page = labelled(
      "means",
      fmt::format("{}. A device reports such a fault late: the call that returns it may be "
                  "a later, innocent one, and every call after it fails too.",
                  symptom->means),
      width);
  page += labelled("try", "`flashcheck check` on the calls before it: the rules below say which.",
                   width);
  for (std::string_view code : symptom->codes) {
    if (const Rule* rule = find_rule(code)) page += list_line(*rule);
  }
  return page;
}

std::string list_rules_with(std::string_view text) {
  std::string list;
  for (const Rule* rule : search_rules(text)) list += list_line(*rule);
  return list;
}

std::string rules_list() {
  std::string list;
  for (const RuleFamily& family : rule_families()) {
    for (const Rule* rule : family.rules) list += list_line(*rule);
  }
  return list;
}

std::string rules_markdown() {
  std::string page =
      "# Rules\n\n"
      "Every sentence that flashcheck can say of a call, with its reason and its fix. This page "
      "is\n"
      "generated: `flashcheck rules --markdown`. The same, one at a time and offline:\n"
      "`flashcheck explain CODE`.\n\n"
      "| code | name | message |\n| --- | --- | --- |\n";
  for (const RuleFamily& family : rule_families()) {
    for (const Rule* rule : family.rules) {
      page += fmt::format("| {} | {} | `{}` |\n", rule->code, rule->name, in_cell(rule->message));
    }
  }
  std::string_view title;
  for (const RuleFamily& family : rule_families()) {
    if (family.title != title) page += fmt::format("\n## {}\n\n", family.title);
    title = family.title;
    for (const Rule* rule : family.rules) page += markdown_of(*rule);
  }
  while (page.ends_with("\n\n")) page.pop_back();
  return page;
}

}  // namespace flashcheck
