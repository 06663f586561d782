#include "src/check_case.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <new>
#include <stdexcept>
#include <system_error>
#include <utility>

#include "reference/reference.h"
#include "src/compare/judge.h"
#include "src/contract/problem.h"
#include "src/execution_rules.h"
#include "src/expectation.h"
#include "src/hazards/hazards.h"
#include "src/inputs/inputs.h"
#include "src/run/run_kernel.h"

namespace flashcheck {
namespace {

bool has_warning(const std::vector<Finding>& findings) {
  return std::any_of(findings.begin(), findings.end(), [](const Finding& finding) {
    return finding.rule->severity != Severity::kInformation;
  });
}

DataStorages data_storages(const Case& c) {
  return {.q = c.q().storage, .k = c.k().storage, .v = c.v().storage};
}

/// Why an accepted, memory-safe call cannot be run here; nothing if it can.
std::optional<Finding> obstacle(const Case& c, const std::vector<Sequence>& sequences,
                                const CheckOptions& options) {
  if (c.q().num_elements() == 0) return nothing_to_compute(c);
  int64_t longest = 0;
  for (const Sequence& s : sequences) longest = std::max(longest, s.seqlen_k);
  if (const std::optional<int64_t> bytes = bytes_needed(c, longest);
      !bytes || *bytes > options.max_memory_bytes) {
    return too_much_memory(bytes, options.max_memory_bytes);
  }
  if (const std::optional<int64_t> work = kernel_work(c, sequences);
      !work || *work > options.max_work) {
    return too_much_work(work, options.max_work);
  }
  return dump_of_another_shape(c);
}

/// The second half of the pipeline: inputs -> kernel and reference -> comparison.
void judge_numbers(const Case& c, const CheckOptions& options, CaseReport& report) {
  const LaunchParams& launch = *report.outcome.launch;
  const Inputs inputs = make_inputs(c, /*with_data=*/true);
  const AttentionProblem problem = declared_problem(c, launch, inputs);

  const AttentionParams params = attention_params(c, launch, inputs);

  report.judged_dump = c.find(TensorName::kOut) != nullptr;
  if (!report.judged_dump) {
    const std::string reason = options.device.backend->refusal(params);
    if (!reason.empty()) {
      report.findings.push_back(backend_cannot(options.device.backend->name, reason));
      return;
    }
  }
  report.backend = report.judged_dump ? "dump" : options.device.backend->name;
  report.device = name_of(options.device);
  const Output actual = report.judged_dump
                            ? dumped_output(c, inputs)
                            : run_kernel(c, params, inputs, options.device, options.num_threads);
  const Reference expected = reference_attention(
      problem, inputs, data_storages(c), choose_rows(problem, options.max_reference_work, c.seed),
      options.products ? *options.products : products_of(options.device));
  report.comparison = compare(problem, actual, expected);
  report.findings = judge(problem, *report.comparison);
  report.ran = true;
}

Verdict verdict_of(const CaseReport& report) {
  if (report.outcome.kind == Outcome::Kind::kError) return Verdict::kError;
  if (report.outcome.kind == Outcome::Kind::kPanic) return Verdict::kPanic;
  if (has_warning(report.hazards)) return Verdict::kHazard;
  if (report.comparison) return verdict_of(*report.comparison);
  return report.findings.empty() ? Verdict::kOk : Verdict::kSkipped;
}

void check(const Case& c, const CheckOptions& options, CaseReport& report) {
  report.outcome = check_contract(c);
  if (!report.outcome.launch) {
    report.hazards = find_contradicted_axes(c);
    return;
  }

  const Inputs small = make_inputs(c, /*with_data=*/false);
  Hazards hazards = find_hazards(c, *report.outcome.launch, small);
  report.hazards = std::move(hazards.findings);
  if (!options.run_kernel || !needs_numbers(c)) return;
  if (!hazards.is_memory_safe) {
    if (!has_warning(report.hazards)) report.findings.push_back(not_proven_safe(c));
    return;
  }
  if (std::optional<Finding> reason = obstacle(c, sequences_of(c, small), options)) {
    report.findings.push_back(*std::move(reason));
    return;
  }
  try {
    judge_numbers(c, options, report);
  } catch (const std::system_error&) {  // this machine's, not a device's
    throw;
  } catch (const std::runtime_error& error) {
    report.device_failed = true;
    report.findings.push_back(device_call_failed(name_of(options.device), error.what()));
  }
}

}  // namespace

std::string_view name_of(Status status) {
  switch (status) {
    case Status::kPass:
      return "pass";
    case Status::kFail:
      return "fail";
    case Status::kSkipped:
      return "skipped";
  }
  return "";
}

CaseReport check_case(const Case& c, const CheckOptions& options) {
  const auto start = std::chrono::steady_clock::now();
  CaseReport report{.c = &c};
  try {
    check(c, options, report);
  } catch (const InputError& error) {
    report.findings.push_back(error.finding);
  } catch (const std::bad_alloc&) {
    report.findings.push_back(no_more_memory());
  }
  report.verdict = verdict_of(report);
  report.unmet = unmet_demands(report);
  report.status = status_of(report);
  report.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return report;
}

}  // namespace flashcheck
