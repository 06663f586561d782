#pragma once

#include <cstdint>
#include <functional>

namespace flashcheck::bench {

/// Seconds a launch took, by the device's clock.
struct LaunchTimes {
  double min = 0, median = 0, p90 = 0;
  int num_launches = 0;
};

/// Times `launch(n)`, n = 0, 1, ..., which starts work on the default stream and does not wait.
/// Warms up first, until the times have settled; then an event stands between every two launches,
/// and as many follow each other as fit into `budget_seconds`: at least 10, at most 400. So a
/// launch's time holds what the device waits for between two launches, if the host is slower than
/// it. Throws std::runtime_error if a device call fails.
LaunchTimes time_launches(double budget_seconds, const std::function<void(int64_t)>& launch);

}  // namespace flashcheck::bench
