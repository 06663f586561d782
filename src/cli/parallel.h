#pragma once

#include <cstdint>
#include <functional>

namespace flashcheck {

/// Calls work(i) for i in [0, count), on `jobs` threads at a time, and done(i) on the calling
/// thread, in order of i, each as soon as it and all before it are finished. `idle()` is called on
/// the calling thread now and then while it waits, with the number finished. An exception of
/// work(i) is thrown here in place of done(i); no further work is begun then.
void for_each_in_order(int64_t count, int jobs, const std::function<void(int64_t)>& work,
                       const std::function<void(int64_t)>& done,
                       const std::function<void(int64_t)>& idle);

}  // namespace flashcheck
