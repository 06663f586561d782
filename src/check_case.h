#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/backend.h"
#include "src/compare/comparison.h"
#include "src/contract/contract.h"
#include "src/spec/case.h"
#include "src/spec/finding.h"
#include "src/spec/verdict.h"

namespace flashcheck {

struct CheckOptions {
  bool run_kernel = true;            // false: the static half (`check`)
  const Backend* backend = nullptr;  // of the kernel; null: the default
  int num_threads = 1;               // of one kernel run
  int64_t max_memory_bytes = int64_t{4} << 30;
  int64_t max_work = int64_t{20'000'000'000};  // multiply-adds of the kernel; beyond: skipped
  int64_t max_reference_work = int64_t{2'000'000'000};  // beyond: the reference samples rows
};

/// Whether the answer is what the case demands.
enum class Status : uint8_t {
  kPass,     // as expected; a question: the call is sound
  kFail,     // not as expected
  kSkipped,  // could not be judged
};
std::string_view name_of(Status status);

/// One demand of `expect` that does not hold.
struct Unmet {
  std::string what;  // "error", "verdict", "launch.k_row_stride"
  std::string expected, actual;
};

/// Everything that was found out about one case: the union of what the stages returned.
struct CaseReport {
  const Case* c = nullptr;  // outlives the report
  Verdict verdict = Verdict::kOk;
  Status status = Status::kPass;
  Outcome outcome;
  std::vector<Finding> hazards;
  bool ran = false;  // a kernel ran, or a dump was judged
  bool judged_dump = false;
  std::string_view backend;
  std::optional<Comparison> comparison;
  std::vector<Finding> findings;  // FC-M and FC-X: what the numbers and the execution say
  std::vector<Unmet> unmet;
  double seconds = 0;
};

/// case -> contract -> hazards -> inputs -> kernel and reference -> comparison -> report.
CaseReport check_case(const Case& c, const CheckOptions& options);

}  // namespace flashcheck
