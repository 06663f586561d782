#include <doctest/doctest.h>

#include <algorithm>
#include <fstream>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "src/check_case.h"
#include "src/hazards/families.h"
#include "src/hazards/hazards.h"
#include "tests/cases/shipped.h"

namespace flashcheck {
namespace {

/// The rule that a file is named after: the longest whose name follows "hazard-". Null if none.
const HazardRule* rule_of(std::string_view stem) {
  constexpr std::string_view kPrefix = "hazard-";
  if (!stem.starts_with(kPrefix)) return nullptr;
  stem.remove_prefix(kPrefix.size());
  const HazardRule* longest = nullptr;
  for (const auto& family : hazard_families()) {
    for (const HazardRule& rule : family) {
      const std::string_view name = rule.rule.name;
      const bool is_named =
          stem == name || (stem.starts_with(name) && stem.substr(name.size()).starts_with('-'));
      if (is_named && (!longest || name.size() > longest->rule.name.size())) longest = &rule;
    }
  }
  return longest;
}

bool speaks(const CaseReport& report, const HazardRule& rule) {
  return std::any_of(report.hazards.begin(), report.hazards.end(),
                     [&](const Finding& finding) { return finding.rule == &rule.rule; });
}

/// Rules whose condition is no number: the values are there or not, the device is another or not.
const std::set<std::string_view> kWithoutNumber = {"FC-H001", "FC-H108", "FC-H110", "FC-H111",
                                                   "FC-H112", "FC-H214", "FC-H306", "FC-H311",
                                                   "FC-H508", "FC-H702", "FC-H707", "FC-H709"};

struct Seen {
  int firing = 0, clean = 0;
  bool last_good = false, first_bad = false;
  std::set<Callee> callees;
};

const std::map<std::string_view, Seen>& seen_rules() {
  static const std::map<std::string_view, Seen> seen = [] {
    std::map<std::string_view, Seen> all;
    for (const Case& c : shipped_cases()) {
      const HazardRule* rule = rule_of(stem_of(c));
      if (!rule) continue;
      const CaseReport report = check_case(c, {.run_kernel = false});
      Seen& entry = all[rule->rule.code];
      const bool fires = speaks(report, *rule);
      if (fires) entry.callees.insert(callee_of(c.function->wrapper));
      fires ? ++entry.firing : ++entry.clean;
      const std::string id = is_control(c) ? "" : c.id.substr(c.id.find('/') + 1);
      const bool is_last = id.starts_with("last-good") || id.starts_with("last-silent");
      const bool is_first = id.starts_with("first-bad") || id.starts_with("first-told");
      CAPTURE(c.id);
      if (is_last) CHECK_FALSE(fires);
      if (is_first) CHECK(fires);
      entry.last_good |= is_last && !fires;
      entry.first_bad |= is_first && fires;
    }
    return all;
  }();
  return seen;
}

}  // namespace

TEST_CASE("every shipped hazard case has the verdict and the hazards that it expects") {
  int count = 0;
  for (const Case& c : shipped_cases()) {
    if (!stem_of(c).starts_with("hazard-")) continue;
    ++count;
    CAPTURE(c.id);
    REQUIRE(c.expect);
    CHECK(c.expect->hazards);
    const CaseReport report = check_case(c, {.run_kernel = false});
    CHECK(report.status == Status::kPass);
  }
  CHECK(count > 500);
}

TEST_CASE(
    "every rule has a case in which it speaks, a clean neighbour, and both sides of a limit") {
  const auto& seen = seen_rules();
  for (const auto& family : hazard_families()) {
    for (const HazardRule& rule : family) {
      CAPTURE(rule.rule.code);
      REQUIRE(seen.contains(rule.rule.code));
      const Seen& entry = seen.at(rule.rule.code);
      CHECK(entry.firing > 0);
      CHECK(entry.clean > 0);
      if (kWithoutNumber.contains(rule.rule.code)) continue;
      CHECK(entry.last_good);
      CHECK(entry.first_bad);
    }
  }
}

TEST_CASE("every rule speaks in a case of each wrapper that it is about") {
  for (const auto& family : hazard_families()) {
    for (const HazardRule& rule : family) {
      CAPTURE(rule.rule.code);
      for (const Callee callee : {kV2, kV3, kDirect}) {
        if (!(rule.callees & callee)) continue;
        CAPTURE(static_cast<int>(callee));
        CHECK(seen_rules().at(rule.rule.code).callees.contains(callee));
      }
    }
  }
}

TEST_CASE("what looks wrong and is not stays silent") {
  int count = 0;
  for (const Case& c : shipped_cases()) {
    if (!stem_of(c).starts_with("hazard-free")) continue;
    ++count;
    const CaseReport report = check_case(c, {.run_kernel = false});
    CAPTURE(c.id);
    CHECK(report.status == Status::kPass);
  }
  CHECK(count > 12);
}

TEST_CASE("at most eight findings of a rule are told, in one block, and the rest is counted") {
  Case c;
  for (const Case& shipped : shipped_cases()) {
    if (shipped.id == "hazard-v-not-finite-v3/inf") c = shipped;
  }
  REQUIRE(c.function);
  const CaseReport report = check_case(c, {.run_kernel = false});
  REQUIRE(report.hazards.size() == 1);
  const std::vector<std::string>& details = report.hazards[0].details;
  REQUIRE(details.size() == 8);
  CHECK(std::all_of(details.begin(), details.end() - 1, [](const std::string& line) {
    return line.starts_with("likewise sequence ");
  }));
  // 2 batch entries of 6 keys and 2 k/v heads.
  CHECK(details.back() == "and 16 more like this");
}

TEST_CASE("docs/hazards.md has a row for every rule") {
  std::stringstream page;
  page << std::ifstream(FLASHCHECK_SOURCE_DIR "/docs/hazards.md").rdbuf();
  for (const auto& family : hazard_families()) {
    for (const HazardRule& rule : family) {
      const std::string row = "| " + std::string(rule.rule.code) + " | " +
                              std::string(rule.rule.name) + " | " +
                              std::string(name_of(rule.kind)) + " |";
      CAPTURE(row);
      CHECK(page.str().find(row) != std::string::npos);
    }
  }
}

}  // namespace flashcheck
