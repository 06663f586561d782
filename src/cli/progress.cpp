#include "src/cli/progress.h"

#include <fmt/format.h>

#include <cstdio>
#include <string>

#include "src/cli/terminal.h"

namespace flashcheck {
namespace {

constexpr std::chrono::milliseconds kPatience{1000}, kBetween{100};
constexpr int64_t kColumns = 30;

}  // namespace

Progress::Progress(int64_t total)
    : total_(total), is_enabled_(stderr_is_terminal()), start_(std::chrono::steady_clock::now()) {}

Progress::~Progress() { hide(); }

void Progress::show(int64_t done) {
  const auto now = std::chrono::steady_clock::now();
  if (!is_enabled_ || now - start_ < kPatience || now - last_ < kBetween) return;
  last_ = now;
  is_shown_ = true;
  const int64_t filled = total_ > 0 ? kColumns * done / total_ : 0;
  const std::string bar = std::string(static_cast<size_t>(filled), '#') +
                          std::string(static_cast<size_t>(kColumns - filled), '.');
  std::fputs(fmt::format("\r[{}] {}/{} ", bar, done, total_).c_str(), stderr);
}

void Progress::hide() {
  if (is_shown_) std::fputs("\r\x1b[K", stderr);
  is_shown_ = false;
}

}  // namespace flashcheck
