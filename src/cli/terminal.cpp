#include "src/cli/terminal.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <string_view>

namespace flashcheck {
namespace {

std::string_view environment(const char* name) {
  const char* value = std::getenv(name);
  return value ? value : "";
}

}  // namespace

bool use_color(ColorMode mode) {
  if (mode != ColorMode::kAuto) return mode == ColorMode::kAlways;
  return environment("NO_COLOR").empty() && environment("TERM") != "dumb" && isatty(STDOUT_FILENO);
}

int text_width() {
  constexpr int kLeast = 40, kDefault = 100, kMost = 120;
  winsize size{};
  int columns = 0;
  if (isatty(STDOUT_FILENO) && ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0) columns = size.ws_col;
  if (columns == 0) columns = std::atoi(std::string(environment("COLUMNS")).c_str());
  return columns == 0 ? kDefault : std::clamp(columns, kLeast, kMost);
}

std::string program_name() {
  const std::string_view given = environment("FLASHCHECK_PROGRAM");
  return given.empty() ? "flashcheck" : std::string(given);
}

bool stderr_is_terminal() { return isatty(STDERR_FILENO) != 0; }

}  // namespace flashcheck
