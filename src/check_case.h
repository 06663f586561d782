#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "reference/products.h"
#include "src/compare/comparison.h"
#include "src/contract/contract.h"
#include "src/run/device_choice.h"
#include "src/spec/case.h"
#include "src/spec/finding.h"
#include "src/spec/verdict.h"

namespace flashcheck {

struct CheckOptions {
  bool run_kernel = true;              // false: the static half (`check`)
  DeviceChoice device;                 // of the kernel and the reference; it is available
  const Products* products = nullptr;  // of the reference; null: those of the device
  int num_threads = 1;                 // of the CPU, for one kernel run
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
  std::string_view backend;    // of the kernel that ran, or "dump"
  std::string device;          // that the kernel, and the reference, ran on: "cpu", "cuda:0"
  bool device_failed = false;  // a device call of the kernel or the reference did
  std::optional<Comparison> comparison;
  std::vector<Finding> findings;  // FC-M and FC-X: what the numbers and the execution say
  std::vector<Unmet> unmet;
  double seconds = 0;
};

/// case -> contract -> hazards -> inputs -> kernel and reference -> comparison -> report.
CaseReport check_case(const Case& c, const CheckOptions& options);

}  // namespace flashcheck
