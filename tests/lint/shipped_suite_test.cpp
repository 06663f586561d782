#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "src/lint/lint.h"
#include "tests/cases/shipped.h"

namespace flashcheck {

TEST_CASE("the shipped numeric cases together have no blind spot") {
  std::vector<LintCase> suite;
  for (const Case& c : shipped_cases()) {
    if (!stem_of(c).starts_with("numeric-")) continue;
    CAPTURE(c.id);
    std::optional<LintCase> test = lint_case(c);
    REQUIRE(test.has_value());
    suite.push_back(*std::move(test));
  }
  CHECK(suite.size() > 100);
  for (const Finding& finding : lint(suite)) {
    const std::string blind_spot = std::string(finding.rule->code) + ": " + finding.message;
    FAIL_CHECK(blind_spot);
  }
}

}  // namespace flashcheck
