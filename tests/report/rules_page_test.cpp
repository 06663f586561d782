#include <doctest/doctest.h>

#include "src/report/rule_docs.h"
#include "tests/golden.h"

TEST_CASE("docs/rules.md is what the registry prints") {
  check_golden("../../docs/rules.md", flashcheck::rules_markdown());
}
