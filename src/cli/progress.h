#pragma once

#include <chrono>
#include <cstdint>

namespace flashcheck {

/// A bar on stderr, shown only there where stderr is a terminal and only once a run takes over a
/// second. Used by one thread.
class Progress {
 public:
  explicit Progress(int64_t total);
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  void show(int64_t done);
  /// Wipes the bar, so that a report's line does not run into it.
  void hide();

 private:
  int64_t total_;
  bool is_enabled_;
  bool is_shown_ = false;
  std::chrono::steady_clock::time_point start_, last_;
};

}  // namespace flashcheck
