#pragma once

#include <boost/context/fiber.hpp>
#include <utility>

#include "tests/simt/sanitizer.h"

namespace simt {

/// A stack that runs while others wait: that of the operating system's thread, or one of its own.
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
    from.leave_for(to, false);
    boost::context::fiber came = std::move(to.context_).resume();
    from.arrive(std::move(came));
  }

 private:
  void leave_for(Fiber& to, bool is_last) {
    leaving_ = this;
    stack_.leave_for(to.stack_, is_last);
  }
  void arrive(boost::context::fiber&& from) {
    stack_.arrive_from(leaving_->stack_);
    leaving_->context_ = std::move(from);
  }

  static inline constinit thread_local Fiber* leaving_ = nullptr;  // who made the last switch

  boost::context::fiber context_;  // where it waits; empty while it runs
  [[no_unique_address]] StackInUse stack_;
};

}  // namespace simt
