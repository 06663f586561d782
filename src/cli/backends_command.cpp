#include <fmt/format.h>

#include <algorithm>
#include <iostream>
#include <string>
#include <string_view>
#include <vector>

#include "src/cli/commands.h"
#include "src/cli/terminal.h"
#include "src/report/text_block.h"
#include "src/run/device_choice.h"

namespace flashcheck {
namespace {

constexpr int kIndent = 18;  // of what stands in the last column

std::string row(std::string_view name, std::string_view runs_here, std::string_view text,
                int width) {
  std::string rows;
  for (const std::string& line : wrap(text, std::max(width - kIndent, 20))) {
    rows += rows.empty() ? fmt::format("{:<7} {:<9} {}\n", name, runs_here, line)
                         : fmt::format("{:<{}}{}\n", "", kIndent, line);
  }
  return rows;
}

/// A device, or a backend as a whole, and why it cannot run, if it cannot.
std::string device_rows(const DeviceChoice& choice, std::string_view name, std::string_view what,
                        int width) {
  const std::string reason = why_unavailable(choice);
  std::string rows = row(name, reason.empty() ? "yes" : "no", what, width);
  if (!reason.empty()) rows += row("", "", "why not: " + reason, width);
  return rows;
}

}  // namespace

ExitStatus backends_command() {
  const int width = text_width();
  std::cout << row("backend", "runs here", "what it is", width);
  for (const Backend& backend : backends()) {
    const std::vector<std::string> devices = backend.devices();
    if (devices.empty()) {
      std::cout << device_rows({&backend, 0}, backend.name, backend.description, width);
      continue;
    }
    for (int device = 0; device < static_cast<int>(devices.size()); ++device) {
      const DeviceChoice choice{&backend, device};
      const std::string what =
          fmt::format("{}: {}", devices[static_cast<size_t>(device)], backend.description);
      std::cout << device_rows(choice, name_of(choice), what, width);
    }
  }
  return ExitStatus::kOk;
}

}  // namespace flashcheck
