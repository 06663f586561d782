#include <fmt/format.h>

#include <iostream>
#include <map>
#include <string>
#include <vector>

#include "src/cli/commands.h"
#include "src/cli/selection.h"
#include "src/cli/terminal.h"
#include "src/expectation.h"
#include "src/lint/lint.h"
#include "src/report/reporter.h"
#include "src/report/text_block.h"

namespace flashcheck {
namespace {

/// Tests that are judged together, and where they stand.
struct Suite {
  std::string place;
  std::vector<LintCase> tests;  // those whose numbers are judged
};

/// A suite a file, in order; or one of all.
std::vector<Suite> suites_of(const std::vector<Case>& cases, bool together) {
  std::vector<Suite> suites;
  std::map<std::string, size_t> of_file;
  for (const Case& c : cases) {
    const auto [found, is_new] = of_file.try_emplace(c.source.path, together ? 0 : suites.size());
    if (is_new && found->second == suites.size()) suites.emplace_back();
    Suite& suite = suites[found->second];
    if (!needs_numbers(c)) continue;
    std::optional<LintCase> test = lint_case(c);
    if (!test) continue;
    if (suite.tests.empty()) {
      suite.place = fmt::format("{}:{}", printable(c.source.path), c.source.line);
    }
    suite.tests.push_back(*std::move(test));
  }
  if (together && of_file.size() > 1) suites[0].place = fmt::format("{} files", of_file.size());
  return suites;
}

std::string plural(size_t count, std::string_view what) {
  return fmt::format("{} {}{}", count, what, count == 1 ? "" : "s");
}

}  // namespace

ExitStatus lint_command(const LintOptions& options) {
  const LoadResult loaded = load_selected(options.paths, options.filters);
  const int width = text_width();
  const auto reporter = make_text_reporter(std::cout, {.width = width});
  for (const LoadComplaint& complaint : loaded.complaints) reporter->on_complaint(complaint);

  size_t num_tests = 0, num_findings = 0, num_without = 0;
  const std::vector<Suite> suites = suites_of(loaded.cases, options.together);
  for (const Suite& suite : suites) {
    num_tests += suite.tests.size();
    num_without += suite.tests.empty();
    for (const Finding& finding : lint(suite.tests)) {
      ++num_findings;
      std::cout << suite.place << ": " << finding.rule->code << ": " << printable(finding.message)
                << '\n'
                << labelled("blind", finding.rule->why, width)
                << labelled("fix", finding.fix_text(), width) << '\n';
    }
  }
  std::cout << fmt::format("{} of {} whose numbers are judged, {}", plural(num_tests, "test"),
                           plural(suites.size(), options.together ? "suite" : "file"),
                           plural(num_findings, "blind spot"));
  if (num_without > 0) std::cout << fmt::format("; {} without such a test", num_without);
  std::cout << '\n';

  if (!loaded.complaints.empty()) return ExitStatus::kBadCaseFile;
  if (num_tests == 0) {
    std::cerr << "flashcheck: no test's numbers are judged, so there is nothing to lint\n";
    return ExitStatus::kNothingRan;
  }
  return options.strict && num_findings > 0 ? ExitStatus::kUnexpected : ExitStatus::kOk;
}

}  // namespace flashcheck
