#include <iostream>
#include <optional>

#include "src/check_case.h"
#include "src/cli/commands.h"
#include "src/cli/selection.h"
#include "src/cli/terminal.h"
#include "src/inputs/inputs.h"
#include "src/map/map_text.h"
#include "src/report/reporter.h"
#include "src/report/text_block.h"
#include "src/report/words.h"

namespace flashcheck {
namespace {

/// The values of the small tensors, as far as they can be had.
std::optional<Inputs> small_inputs(const Case& c) {
  try {
    return make_inputs(c, /*with_data=*/false);
  } catch (const InputError&) {
    return std::nullopt;
  }
}

/// What the wrapper says comes first; the map is drawn whatever it says.
void print_map(const Case& c, const MapLimits& limits, int width) {
  const CaseReport report = check_case(c, {.run_kernel = false});
  const std::string place = printable(c.source.path) + ":" + std::to_string(c.source.line) + ": ";
  const std::vector<const Finding*> leading = leading_findings(report);
  if (leading.empty()) std::cout << place << "ok: " << sound_sentence(report) << '\n';
  for (const Finding* finding : leading) {
    std::cout << place << finding->rule->code << ": " << printable(finding->message) << '\n';
  }
  std::cout << labelled("case", printable(c.id), width);

  const std::optional<Inputs> small = small_inputs(c);
  const LaunchParams* launch = report.outcome.launch ? &*report.outcome.launch : nullptr;
  std::cout << map_text(make_kv_map(c, launch, small ? &*small : nullptr, limits), width) << '\n';
}

}  // namespace

ExitStatus map_command(const MapOptions& options) {
  const LoadResult loaded = load_selected(options.paths, options.filters);
  const auto reporter = make_text_reporter(std::cout, {.width = text_width()});
  for (const LoadComplaint& complaint : loaded.complaints) reporter->on_complaint(complaint);
  const MapLimits limits = options.all ? kNoMapLimits : MapLimits{};
  for (const Case& c : loaded.cases) print_map(c, limits, text_width());

  if (!loaded.complaints.empty()) return ExitStatus::kBadCaseFile;
  if (!loaded.cases.empty()) return ExitStatus::kOk;
  std::cerr << "flashcheck: there is no case to draw\n";
  return ExitStatus::kNothingRan;
}

}  // namespace flashcheck
