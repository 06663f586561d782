#include "tests/gpu/timing.h"

#include <cuda_runtime_api.h>

#include <algorithm>
#include <vector>

#include "kernels/cuda/check_cuda.h"

namespace flashcheck::bench {
namespace {

constexpr double kWarmUpSeconds = 0.05;  // clocks rise within milliseconds of work
constexpr int kMinLaunches = 10, kMaxLaunches = 400;

class Event {
 public:
  Event() { check_cuda(cudaEventCreate(&event_), "cudaEventCreate"); }
  Event(Event&& other) noexcept : event_(other.event_) { other.event_ = nullptr; }
  Event& operator=(Event&&) = delete;
  ~Event() {
    if (event_ != nullptr) cudaEventDestroy(event_);
  }
  void record() { check_cuda(cudaEventRecord(event_), "cudaEventRecord"); }
  double seconds_since(const Event& earlier) const {
    check_cuda(cudaEventSynchronize(event_), "cudaEventSynchronize");
    float milliseconds = 0;
    check_cuda(cudaEventElapsedTime(&milliseconds, earlier.event_, event_), "cudaEventElapsedTime");
    return 1e-3 * static_cast<double>(milliseconds);
  }

 private:
  cudaEvent_t event_ = nullptr;
};

/// Doubles the number of launches until they take long enough; the seconds of one.
double warm_up(const std::function<void(int64_t)>& launch) {
  Event begin, end;
  for (int64_t count = 1;; count *= 2) {
    begin.record();
    for (int64_t n = 0; n < count; ++n) launch(n);
    end.record();
    const double seconds = end.seconds_since(begin);
    if (seconds >= kWarmUpSeconds || count >= 4096) return seconds / static_cast<double>(count);
  }
}

}  // namespace

LaunchTimes time_launches(double budget_seconds, const std::function<void(int64_t)>& launch) {
  const double expected = std::max(warm_up(launch), 1e-6);
  const int count = static_cast<int>(
      std::clamp<double>(budget_seconds / expected, double{kMinLaunches}, double{kMaxLaunches}));
  std::vector<Event> events(static_cast<size_t>(count) + 1);
  events[0].record();
  for (size_t n = 0; n + 1 < events.size(); ++n) {
    launch(static_cast<int64_t>(n));
    events[n + 1].record();
  }
  std::vector<double> seconds;
  for (size_t n = 0; n + 1 < events.size(); ++n) {
    seconds.push_back(events[n + 1].seconds_since(events[n]));
  }
  std::ranges::sort(seconds);
  return {seconds.front(), seconds[seconds.size() / 2], seconds[seconds.size() * 9 / 10], count};
}

}  // namespace flashcheck::bench
