#include <fmt/format.h>
#include <fnmatch.h>

#include <algorithm>
#include <cstdio>
#include <iostream>
#include <memory>
#include <optional>
#include <vector>

#include "src/check_case.h"
#include "src/cli/commands.h"
#include "src/cli/output_files.h"
#include "src/cli/parallel.h"
#include "src/cli/progress.h"
#include "src/cli/terminal.h"
#include "src/load/load.h"
#include "src/report/reporter.h"
#include "src/version.h"

namespace flashcheck {
namespace {

/// A glob on the whole id; one without wildcards also names a test by its own id.
bool is_selected(const std::string& id, const std::vector<std::string>& filters) {
  if (filters.empty()) return true;
  const std::string last = id.substr(id.rfind('/') + 1);
  return std::any_of(filters.begin(), filters.end(), [&](const std::string& filter) {
    return fnmatch(filter.c_str(), id.c_str(), 0) == 0 || filter == last;
  });
}

LoadResult load_selected(const RunOptions& options) {
  CasePaths paths = expand_paths(options.paths);
  LoadResult all{.complaints = std::move(paths.complaints)};
  for (const std::string& path : paths.files) {
    LoadResult loaded = load_file(path);
    for (Case& c : loaded.cases) {
      if (is_selected(c.id, options.filters)) all.cases.push_back(std::move(c));
    }
    std::move(loaded.complaints.begin(), loaded.complaints.end(),
              std::back_inserter(all.complaints));
  }
  return all;
}

/// The first demanded backend that cannot run here, with the reason; nothing if all can.
std::optional<std::string> missing_backend(const std::vector<std::string>& required) {
  for (const std::string& name : required) {
    const Backend* backend = find_backend(name);
    if (!backend) return fmt::format("{}: this build has no such backend", name);
    if (const std::string_view why = backend->unavailable(); !why.empty()) {
      return fmt::format("{}: {}", name, why);
    }
  }
  return std::nullopt;
}

CheckOptions check_options(const RunOptions& options, size_t num_cases) {
  CheckOptions check;
  check.run_kernel = options.run_kernel;
  // Cases run side by side; only when there are fewer of them than jobs does one get several
  // threads.
  check.num_threads = std::max(1, options.jobs / std::max(1, static_cast<int>(num_cases)));
  check.max_memory_bytes = options.max_memory_bytes;
  check.max_work = options.max_work;
  return check;
}

void check_all(const std::vector<Case>& cases, const RunOptions& options,
               const std::vector<std::unique_ptr<Reporter>>& reporters, Summary& summary) {
  const CheckOptions check = check_options(options, cases.size());
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

ExitStatus status_of(const Summary& summary, const RunOptions& options) {
  if (summary.num_complaints > 0) return ExitStatus::kBadCaseFile;
  if (summary.num_passed + summary.num_failed == 0 && !options.allow_empty) {
    return ExitStatus::kNothingRan;
  }
  return summary.num_failed > 0 ? ExitStatus::kUnexpected : ExitStatus::kOk;
}

}  // namespace

ExitStatus run_command(const RunOptions& options) {
  if (const std::optional<std::string> missing = missing_backend(options.required)) {
    std::cerr << "flashcheck: --require " << *missing << '\n';
    return ExitStatus::kMissing;
  }
  const LoadResult loaded = load_selected(options);
  if (options.list) {
    for (const Case& c : loaded.cases) std::cout << c.id << '\n';
  }

  OutputFiles files;
  const TextStyle style{
      .color = use_color(options.color), .width = text_width(), .verbose = options.verbose};
  std::vector<std::unique_ptr<Reporter>> reporters =
      files.open(options.list ? std::vector<OutputTarget>{{.path = "-"}} : options.outputs, style);
  Summary summary{.num_complaints = static_cast<int64_t>(loaded.complaints.size())};
  for (const auto& reporter : reporters) {
    if (!options.list) {
      reporter->on_begin({.version = kVersion, .command = options.run_kernel ? "run" : "check"});
    }
    for (const LoadComplaint& complaint : loaded.complaints) reporter->on_complaint(complaint);
  }
  if (options.list) {
    summary.num_passed = static_cast<int64_t>(loaded.cases.size());
    return status_of(summary, options);
  }
  check_all(loaded.cases, options, reporters, summary);
  for (const auto& reporter : reporters) reporter->on_end(summary);
  files.close();
  const ExitStatus status = status_of(summary, options);
  if (status == ExitStatus::kNothingRan) {
    std::cerr
        << (loaded.cases.empty() && !options.filters.empty()
                ? "flashcheck: no case fits the filter\n"
                : "flashcheck: nothing ran, so nothing was shown (--allow-empty accepts that)\n");
  }
  return status;
}

}  // namespace flashcheck
