#pragma once

#include <boost/context/fiber.hpp>
#include <cstddef>
#include <utility>

#include "tests/simt/sanitizer.h"

namespace simt {

/// A stack that runs while others wait: that of the operating system's thread, or one of its own.
/// The address sanitizer is told of each switch.
class Fiber {
 public:
  /// Stands for the thread that makes it.
  Fiber() = default;
  /// Runs `body(argument)` at the first switch to it. When the body returns, `home` goes on.
  Fiber(void (*body)(void*), void* argument, Fiber& home);
  Fiber(const Fiber&) = delete;
  Fiber& operator=(const Fiber&) = delete;

  /// `from`, which runs, waits until something switches to it; `to` goes on. Inline, because after
  /// a switch the processor mispredicts every return that is left to do.
  static void switch_between(Fiber& from, Fiber& to) {
    leave(from, to, false);
    boost::context::fiber came = std::move(to.context_).resume();
    arrive(from, std::move(came));
  }

 private:
  /// `is_last`: it will not come back.
  static void leave(Fiber& from, Fiber& to, bool is_last) {
    leaving_ = &from;
#ifdef SIMT_ASAN
    __sanitizer_start_switch_fiber(is_last ? nullptr : &from.fake_stack_, to.stack_bottom_,
                                   to.stack_bytes_);
#else
    static_cast<void>(to);
    static_cast<void>(is_last);
#endif
  }

  static void arrive(Fiber& at, boost::context::fiber&& from) {
    Fiber& left = *leaving_;
#ifdef SIMT_ASAN
    // Only here does the bottom of the thread's own stack become known.
    __sanitizer_finish_switch_fiber(at.fake_stack_, &left.stack_bottom_, &left.stack_bytes_);
#else
    static_cast<void>(at);
#endif
    left.context_ = std::move(from);
  }

  static inline constinit thread_local Fiber* leaving_ = nullptr;  // who made the last switch

  boost::context::fiber context_;  // where it waits; empty while it runs
  void* fake_stack_ = nullptr;     // the address sanitizer's, while it waits
  const void* stack_bottom_ = nullptr;
  std::size_t stack_bytes_ = 0;
};

}  // namespace simt
