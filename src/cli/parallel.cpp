#include "src/cli/parallel.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

namespace flashcheck {

void for_each_in_order(int64_t count, int jobs, const std::function<void(int64_t)>& work,
                       const std::function<void(int64_t)>& done,
                       const std::function<void(int64_t)>& idle) {
  std::mutex mutex;
  std::condition_variable finished;
  std::vector<bool> is_finished(static_cast<size_t>(count));
  std::vector<std::exception_ptr> errors(static_cast<size_t>(count));
  int64_t num_finished = 0;
  std::atomic<int64_t> next{0};
  std::atomic<bool> stop{false};

  const auto worker = [&] {
    for (int64_t i = next++; i < count && !stop; i = next++) {
      std::exception_ptr error;
      try {
        work(i);
      } catch (...) {
        error = std::current_exception();
      }
      const std::lock_guard lock(mutex);
      errors[static_cast<size_t>(i)] = error;
      is_finished[static_cast<size_t>(i)] = true;
      ++num_finished;
      finished.notify_one();
    }
  };
  std::vector<std::jthread> threads;
  try {
    for (int64_t i = 0; i < std::min<int64_t>(jobs, count); ++i) threads.emplace_back(worker);
  } catch (...) {  // no further thread: those that run stop at once
    stop = true;
    throw;
  }

  for (int64_t i = 0; i < count; ++i) {
    std::exception_ptr error;
    {
      std::unique_lock lock(mutex);
      while (!finished.wait_for(lock, std::chrono::milliseconds(100),
                                [&] { return is_finished[static_cast<size_t>(i)]; })) {
        idle(num_finished);
      }
      error = errors[static_cast<size_t>(i)];
    }
    if (error) {
      stop = true;
      std::rethrow_exception(error);
    }
    done(i);
  }
}

}  // namespace flashcheck
