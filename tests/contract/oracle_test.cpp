#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "src/contract/contract.h"
#include "src/load/load.h"

// tests/data/candle.jsonl: 3,000 calls, and what the check code of candle-flash-attn and
// candle-flash-attn-v3 at 2a13b0f3 gave for each: an error, a panic, or every launch parameter.

namespace flashcheck {
namespace {

const std::vector<Case>& oracle_cases() {
  static const LoadResult result = load_file(FLASHCHECK_SOURCE_DIR "/tests/data/candle.jsonl");
  return result.cases;
}

bool is_same(const LaunchValue& expected, const LaunchValue& actual) {
  // The file writes some floats as integers; all are f32.
  const auto number = [](const LaunchValue& value) -> std::optional<float> {
    if (const int64_t* i = std::get_if<int64_t>(&value)) return static_cast<float>(*i);
    if (const double* d = std::get_if<double>(&value)) return static_cast<float>(*d);
    return std::nullopt;
  };
  if (std::holds_alternative<double>(actual)) return number(expected) == number(actual);
  return expected == actual;
}

/// What is wrong with an answer; "" where all is as the file says.
std::string disagreement(const Case& c, const Outcome& outcome) {
  const Expect& expect = *c.expect;
  const std::string said = outcome.findings.empty() ? "a launch" : outcome.findings.front().message;
  if (expect.error) {
    const bool agrees = outcome.kind == Outcome::Kind::kError && said == *expect.error;
    return agrees ? "" : "said " + said + ", not " + *expect.error;
  }
  if (expect.panic) {
    const bool agrees = outcome.kind == Outcome::Kind::kPanic && said == *expect.panic;
    return agrees ? "" : "said " + said + ", not panic " + *expect.panic;
  }
  if (!outcome.launch) return "said " + said + ", not a launch";
  const std::vector<LaunchField> actual = launch_fields(*outcome.launch);
  if (actual.size() != expect.launch.size()) return "another number of launch parameters";
  for (const LaunchField& expected : expect.launch) {
    bool agrees = false;
    for (const LaunchField& field : actual) {
      agrees = agrees || (field.name == expected.name && is_same(expected.value, field.value));
    }
    if (!agrees) return "launch." + expected.name;
  }
  return "";
}

}  // namespace

TEST_CASE("all 3,000 calls get the word of candle's own code") {
  REQUIRE(oracle_cases().size() == 3000);
  int num_disagreements = 0, num_launches = 0;
  for (const Case& c : oracle_cases()) {
    const Outcome outcome = check_contract(c);
    num_launches += outcome.launch.has_value();
    const std::string what = disagreement(c, outcome);
    if (what.empty()) continue;
    if (++num_disagreements <= 5) {
      CAPTURE(c.id);
      FAIL_CHECK(what);
    }
  }
  CHECK(num_disagreements == 0);
  CHECK(num_launches == 809);
}

TEST_CASE("every message of the 3,000 can be read back through its rule's template") {
  REQUIRE(oracle_cases().size() == 3000);
  for (const Case& c : oracle_cases()) {
    for (const Finding& finding : check_contract(c).findings) {
      CAPTURE(finding.message);
      std::vector<FindingArg> args;
      REQUIRE(match_template(finding.rule->message, finding.message, args));
      CHECK(fill_template(finding.rule->message, args) == finding.message);
    }
  }
}

}  // namespace flashcheck
