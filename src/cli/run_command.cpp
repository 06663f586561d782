#include <fmt/format.h>

#include <algorithm>
#include <iostream>
#include <memory>
#include <optional>
#include <vector>

#include "src/check_case.h"
#include "src/cli/commands.h"
#include "src/cli/output_files.h"
#include "src/cli/parallel.h"
#include "src/cli/progress.h"
#include "src/cli/selection.h"
#include "src/cli/terminal.h"
#include "src/expectation.h"
#include "src/lint/lint.h"
#include "src/report/reporter.h"
#include "src/run/device_choice.h"
#include "src/version.h"

namespace flashcheck {
namespace {

/// What of the demanded devices, and of the chosen one, cannot run here, with the reason; nothing
/// if all can.
std::optional<std::string> missing_device(const RunOptions& options, const DeviceChoice& chosen) {
  for (const std::string& name : options.required) {
    const std::optional<DeviceChoice> required = parse_device_choice(name);
    const std::string why =
        required ? why_unavailable(*required) : "this build has no such backend";
    if (!why.empty()) return fmt::format("--require {}: {}", name, why);
  }
  const std::string why = why_unavailable(chosen);
  if (!why.empty()) return fmt::format("--device {}: {}", options.device, why);
  return std::nullopt;
}

CheckOptions check_options(const RunOptions& options, const DeviceChoice& device,
                           size_t num_cases) {
  CheckOptions check;
  check.run_kernel = options.run_kernel;
  check.device = device;
  // Cases run side by side; only when there are fewer of them than jobs does one get several
  // threads.
  check.num_threads = std::max(1, options.jobs / std::max(1, static_cast<int>(num_cases)));
  check.max_memory_bytes = options.max_memory_bytes;
  check.max_work = options.max_work;
  return check;
}

void check_all(const std::vector<Case>& cases, const RunOptions& options,
               const DeviceChoice& device, const std::vector<std::unique_ptr<Reporter>>& reporters,
               Summary& summary) {
  const CheckOptions check = check_options(options, device, cases.size());
  const int64_t count = static_cast<int64_t>(cases.size());
  std::vector<std::optional<CaseReport>> reports(cases.size());
  Progress progress(count);
  for_each_in_order(
      count, options.jobs,
      [&](int64_t i) {
        const size_t at = static_cast<size_t>(i);
        reports[at] = check_case(cases[at], check);
      },
      [&](int64_t i) {
        std::optional<CaseReport>& report = reports[static_cast<size_t>(i)];
        progress.hide();
        summary.add(*report);
        for (const auto& reporter : reporters) reporter->on_case(*report);
        report.reset();
        progress.show(i + 1);
      },
      [&](int64_t done) { progress.show(done); });
}

/// Faults that the tests whose numbers are judged could together not have shown. A question is no
/// test: it is not there to find faults.
int64_t count_blind_spots(const std::vector<Case>& cases) {
  std::vector<LintCase> suite;
  for (const Case& c : cases) {
    if (!c.expect || !needs_numbers(c)) continue;
    if (std::optional<LintCase> test = lint_case(c)) suite.push_back(*std::move(test));
  }
  return suite.empty() ? 0 : static_cast<int64_t>(lint(suite).size());
}

ExitStatus status_of(const Summary& summary, const RunOptions& options) {
  if (summary.num_complaints > 0) return ExitStatus::kBadCaseFile;
  if (summary.num_passed + summary.num_failed == 0 && !options.allow_empty) {
    return ExitStatus::kNothingRan;
  }
  return summary.num_failed > 0 ? ExitStatus::kUnexpected : ExitStatus::kOk;
}

/// Says on stderr why a run came to nothing.
void explain_nothing(const LoadResult& loaded, const RunOptions& options) {
  if (!loaded.cases.empty()) {
    std::cerr << "flashcheck: nothing ran, so nothing was shown (--allow-empty accepts that)\n";
  } else if (!options.filters.empty()) {
    std::cerr << "flashcheck: no case fits the filter (`--list` without -k prints the ids)\n";
  } else {
    std::cerr << "flashcheck: there is no .json or .jsonl file in what was named\n";
  }
}

ExitStatus list_cases(const LoadResult& loaded, const RunOptions& options) {
  for (const Case& c : loaded.cases) std::cout << c.id << '\n';
  const auto reporter = make_text_reporter(std::cout, {.width = text_width()});
  for (const LoadComplaint& complaint : loaded.complaints) reporter->on_complaint(complaint);
  if (!loaded.complaints.empty()) return ExitStatus::kBadCaseFile;
  if (!loaded.cases.empty() || options.allow_empty) return ExitStatus::kOk;
  explain_nothing(loaded, options);
  return ExitStatus::kNothingRan;
}

ExitStatus run_cases(const LoadResult& loaded, const RunOptions& options,
                     const DeviceChoice& device,
                     const std::vector<std::unique_ptr<Reporter>>& reporters) {
  const RunHeader header{.version = kVersion,
                         .command = options.run_kernel ? "run" : "check",
                         .device = options.run_kernel ? name_of(device) : "",
                         .program = program_name()};
  Summary summary{.num_complaints = static_cast<int64_t>(loaded.complaints.size())};
  for (const auto& reporter : reporters) {
    reporter->on_begin(header);
    for (const LoadComplaint& complaint : loaded.complaints) reporter->on_complaint(complaint);
  }
  check_all(loaded.cases, options, device, reporters, summary);
  if (options.run_kernel) summary.num_blind_spots = count_blind_spots(loaded.cases);
  for (const auto& reporter : reporters) reporter->on_end(summary);
  return status_of(summary, options);
}

}  // namespace

ExitStatus run_command(const RunOptions& options) {
  const DeviceChoice device =
      options.device == "auto" ? fastest_device() : parse_device_choice(options.device).value();
  if (const std::optional<std::string> missing = missing_device(options, device)) {
    std::cerr << "flashcheck: " << *missing << '\n';
    return ExitStatus::kMissing;
  }
  const LoadResult loaded = load_selected(options.paths, options.filters);
  if (options.list) return list_cases(loaded, options);

  OutputFiles files;
  const TextStyle style{
      .color = use_color(options.color), .width = text_width(), .verbose = options.verbose};
  std::vector<std::unique_ptr<Reporter>> reporters;
  try {
    reporters = files.open(options.outputs, style);
  } catch (const OutputError& error) {  // a path that cannot be: what was asked for is wrong
    std::cerr << "flashcheck: --output " << error.what() << '\n';
    return ExitStatus::kUsage;
  }
  const ExitStatus status = run_cases(loaded, options, device, reporters);
  files.close();
  if (status == ExitStatus::kNothingRan) explain_nothing(loaded, options);
  return status;
}

}  // namespace flashcheck
