#pragma once

#include <cstring>
#include <string>

namespace simt {

constexpr int kWarpSize = 32;

/// Where a kernel says one of CUDA's words: the default argument of each, so that lanes can be held
/// to meet at the same place and an error can name it.
struct Site {
  const char* file = "";
  int line = 0;

  static constexpr Site here(const char* file = __builtin_FILE(), int line = __builtin_LINE()) {
    return {file, line};
  }

  /// "flash_forward.h:40"
  std::string text() const {
    const char* slash = std::strrchr(file, '/');
    return std::string(slash == nullptr ? file : slash + 1) + ":" + std::to_string(line);
  }

  friend bool operator==(const Site& a, const Site& b) {
    return a.line == b.line && (a.file == b.file || std::strcmp(a.file, b.file) == 0);
  }
};

}  // namespace simt
