// A search for a call that the rules let through and that makes the kernel or the reference touch
// memory outside its storages. Storages are allocated exactly as long as the case says, so the
// address sanitizer sees the first byte outside; without it the guards around the output do.
// FLASHCHECK_SEARCH=1000000 looks at that many calls, FLASHCHECK_SEARCH_FROM starts at another one.

#include <doctest/doctest.h>

#include <cstdlib>
#include <map>
#include <string>

#include "kernels/backend.h"
#include "reference/reference.h"
#include "src/check_case.h"
#include "src/contract/contract.h"
#include "src/contract/problem.h"
#include "src/hazards/hazards.h"
#include "src/inputs/inputs.h"
#include "src/run/run_kernel.h"
#include "tests/hazards/random_call.h"

namespace flashcheck {
namespace {

uint64_t from_environment(const char* name, uint64_t otherwise) {
  const char* text = std::getenv(name);
  return text ? std::strtoull(text, nullptr, 10) : otherwise;
}

bool same(const Outcome& a, const Outcome& b) {
  if (a.kind != b.kind || a.findings.size() != b.findings.size()) return false;
  for (size_t i = 0; i < a.findings.size(); ++i) {
    if (a.findings[i].message != b.findings[i].message) return false;
  }
  return true;
}

/// Runs the kernel and the reference on a call; the sanitizer speaks if an address is outside.
int64_t guard_bytes_changed(const Case& c, const LaunchParams& launch) {
  const Inputs inputs = make_inputs(c, /*with_data=*/true);
  const Output output = run_kernel(c, attention_params(c, launch, inputs), inputs, {}, 1);
  const AttentionProblem problem = declared_problem(c, launch, inputs);
  reference_attention(problem, inputs, {.q = c.q().storage, .k = c.k().storage, .v = c.v().storage},
                      choose_rows(problem, 1'000'000, c.seed));
  return output.num_guard_bytes_changed;
}

}  // namespace

TEST_CASE("no call that is memory-safe makes kernel or reference leave its storages") {
  const uint64_t count = from_environment("FLASHCHECK_SEARCH", 4000);
  const uint64_t from = from_environment("FLASHCHECK_SEARCH_FROM", 0);
  uint64_t refused = 0, unsafe = 0, ran = 0;
  std::map<std::string_view, uint64_t> spoke;
  for (uint64_t number = from; number < from + count; ++number) {
    const Case c = random_call(number);
    CAPTURE(number);
    const Outcome outcome = check_contract(c);
    if (!outcome.launch) {
      ++refused;
      continue;
    }
    const Hazards hazards = find_hazards(c, *outcome.launch, make_inputs(c, false));
    for (const Finding& finding : hazards.findings) ++spoke[finding.rule->code];
    // Hazards come after the wrapper's word and never change it.
    if (number % 16 == 0) {
      const CaseReport report = check_case(c, {.run_kernel = false});
      REQUIRE(same(report.outcome, outcome));
      REQUIRE(report.hazards.size() == hazards.findings.size());
    }
    if (!hazards.is_memory_safe) {
      ++unsafe;
      continue;
    }
    if (c.q().num_elements() == 0) continue;
    REQUIRE(guard_bytes_changed(c, *outcome.launch) == 0);
    ++ran;
  }
  MESSAGE(count << " calls: " << refused << " refused, " << unsafe << " unsafe, " << ran << " ran, "
                << spoke.size() << " rules spoke");
  CHECK(ran > count / 4);
  CHECK(unsafe > count / 20);
  CHECK(spoke.size() > 30);
}

TEST_CASE("a call that is not memory-safe is told why") {
  for (uint64_t number = 0; number < 4000; ++number) {
    const Case c = random_call(number);
    const Outcome outcome = check_contract(c);
    if (!outcome.launch) continue;
    const Hazards hazards = find_hazards(c, *outcome.launch, make_inputs(c, false));
    if (hazards.is_memory_safe || c.q().num_elements() == 0) continue;
    // Pages that no query row sees are silent, and keep a paged call from being run.
    if (c.function->paged) continue;
    CAPTURE(number);
    REQUIRE_FALSE(hazards.findings.empty());
  }
}

}  // namespace flashcheck
