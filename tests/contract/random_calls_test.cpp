#include "tests/contract/random_calls.h"

#include <doctest/doctest.h>

#include "src/contract/contract.h"

namespace flashcheck {

TEST_CASE("random sound calls are accepted") {
  std::mt19937_64 rng(1);
  for (int i = 0; i < 2000; ++i) {
    const Case c = random_accepted_call(rng);
    const Outcome outcome = check_contract(c);
    CAPTURE(c.function->name);
    REQUIRE_MESSAGE(outcome.findings.empty(), outcome.findings.front().message);
    REQUIRE(outcome.launch.has_value());
    CHECK(outcome.launch->h == outcome.launch->h_k * (outcome.launch->h / outcome.launch->h_k));
  }
}

TEST_CASE("a call is launched, or findings say why not, and never both") {
  std::mt19937_64 rng(2);
  int num_launches = 0, num_errors = 0, num_panics = 0;
  for (int i = 0; i < 20000; ++i) {
    Case c = random_accepted_call(rng);
    for (int change = i % 5; change > 0; --change) change_at_random(c, rng);
    const Outcome outcome = check_contract(c);
    const bool is_launch = outcome.kind == Outcome::Kind::kLaunch;
    REQUIRE(outcome.launch.has_value() == is_launch);
    REQUIRE(outcome.findings.empty() == is_launch);
    num_launches += is_launch;
    num_errors += outcome.kind == Outcome::Kind::kError;
    num_panics += outcome.kind == Outcome::Kind::kPanic;
    for (const Finding& finding : outcome.findings) {
      CAPTURE(finding.message);
      std::vector<FindingArg> args;
      REQUIRE(match_template(finding.rule->message, finding.message, args));
      REQUIRE(finding.where.starts_with('/'));
      REQUIRE_FALSE(finding.source.empty());
    }
  }
  CHECK(num_launches > 4000);
  CHECK(num_errors > 4000);
  CHECK(num_panics > 40);
}

}  // namespace flashcheck
