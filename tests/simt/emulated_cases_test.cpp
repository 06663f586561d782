// The pipeline with the CUDA kernel in the CPU kernel's place: against the reference, within the
// bound.

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdlib>
#include <iostream>
#include <string>
#include <vector>

#include "src/check_case.h"
#include "tests/cases/shipped.h"
#include "tests/check/random_call.h"
#include "tests/simt/emulated_backend.h"

using namespace flashcheck;
using namespace flashcheck::testing;

namespace {

CheckOptions on_emulated_device() {
  CheckOptions options;
  options.device = {.backend = &emulated_cuda()};
  options.products = &blas_products();
  return options;
}

/// The codes of what the numbers say.
std::vector<std::string> codes(const CaseReport& report) {
  std::vector<std::string> codes;
  for (const Finding& finding : report.findings) codes.emplace_back(finding.rule->code);
  return codes;
}

bool is_refused(const CaseReport& report) {
  return codes(report) == std::vector<std::string>{"FC-X107"};
}

int asked(const char* variable, int otherwise) {
  const char* text = std::getenv(variable);
  return text ? std::atoi(text) : otherwise;
}

}  // namespace

TEST_CASE("every shipped case whose numbers are judged is as expected with the CUDA kernel") {
  num_schedules = asked("FLASHCHECK_SCHEDULES", 20);
  int ran = 0, refused = 0;
  const int step = std::max(1, asked("FLASHCHECK_CASE_STEP", 1));
  const std::vector<Case>& cases = shipped_cases();
  for (size_t i = 0; i < cases.size(); i += static_cast<size_t>(step)) {
    const Case& c = cases[i];
    CAPTURE(c.id);
    const CaseReport report = check_case(c, on_emulated_device());
    if (report.judged_dump) continue;
    ran += report.ran;
    refused += is_refused(report);
    if (report.ran) CHECK(report.status == Status::kPass);
  }
  std::cout << ran << " cases ran on the emulated device, " << refused << " it refuses\n";
  CHECK(ran * step >= 700);
  CHECK(refused * 10 < ran);
}

TEST_CASE("the CUDA kernel raises no alarm on random valid calls of all kinds") {
  num_schedules = std::min(3, asked("FLASHCHECK_SCHEDULES", 3));
  std::mt19937_64 random(2026);
  int ran = 0;
  for (int i = 0; i < asked("FLASHCHECK_RANDOM_CALLS", 60); ++i) {
    const Case c = random_call(random);
    const CaseReport report = check_case(c, on_emulated_device());
    if (is_refused(report)) continue;
    CAPTURE(i);
    CAPTURE(c.function->name);
    const std::string first = report.findings.empty() ? "" : report.findings.front().message;
    CAPTURE(first);
    CHECK(report.ran);
    CHECK(report.verdict != Verdict::kMismatch);
    CHECK(report.verdict != Verdict::kSkipped);
    ran += report.ran;
  }
  std::cout << ran << " random calls ran on the emulated device\n";
}
