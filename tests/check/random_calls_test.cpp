#include <doctest/doctest.h>

#include <cstdlib>
#include <iostream>
#include <map>
#include <string>

#include "src/check_case.h"
#include "tests/check/random_call.h"

using namespace flashcheck;

namespace {

/// FLASHCHECK_RANDOM_CALLS in the environment makes a long run of it.
int64_t num_calls() {
  const char* asked = std::getenv("FLASHCHECK_RANDOM_CALLS");
  return asked ? std::atoll(asked) : 200;
}

}  // namespace

TEST_CASE("a correct kernel raises no alarm on random valid calls of all kinds") {
  std::mt19937_64 random(2024);
  std::map<std::string, int64_t> verdicts;
  int64_t ran = 0;
  double max_ratio = 0;
  for (int64_t i = 0; i < num_calls(); ++i) {
    const Case c = random_call(random);
    const CaseReport report = check_case(c, {});
    ++verdicts[std::string(name_of(report.verdict))];
    ran += report.ran;
    if (report.comparison && report.verdict == Verdict::kOk) {
      max_ratio = std::max(max_ratio, report.comparison->max_ratio);
    }
    CAPTURE(i);
    CAPTURE(c.function->name);
    const std::string first = report.outcome.findings.empty()
                                  ? report.findings.empty() ? "" : report.findings.front().message
                                  : report.outcome.findings.front().message;
    CAPTURE(first);
    CHECK(report.verdict != Verdict::kError);
    CHECK(report.verdict != Verdict::kPanic);
    CHECK(report.verdict != Verdict::kMismatch);
    CHECK(report.verdict != Verdict::kSkipped);
  }
  // Most calls are free of hazards, or the test would prove little.
  CHECK(verdicts["ok"] * 2 > num_calls());
  if (std::getenv("FLASHCHECK_RANDOM_CALLS")) {
    for (const auto& [verdict, count] : verdicts) std::cout << verdict << ' ' << count << '\n';
    std::cout << "ran " << ran << ", largest error of an ok call " << max_ratio
              << " of its bound\n";
  }
}
