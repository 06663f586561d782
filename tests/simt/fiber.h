#pragma once

#include <cstddef>

#include "tests/simt/sanitizer.h"

// The C library's switch would do everywhere, but asks the operating system each time.
#if defined(__x86_64__) && !defined(SIMT_UCONTEXT)
#define SIMT_SWITCHES_STACKS 1

/// Stores the stack pointer of who calls at `from` and goes on where `to` was stored.
extern "C" void simt_switch_stacks(void** from, void* to);
#else
#include <ucontext.h>
#endif

namespace simt {

/// A stack that runs while others wait: that of the operating system's thread, or one of its own.
class Fiber {
 public:
  /// Stands for the thread that makes it.
  Fiber() = default;
  /// Runs `body(argument)` at the first switch to it. When the body returns, `home` goes on.
  Fiber(void (*body)(void*), void* argument, Fiber& home);
  ~Fiber();
  Fiber(const Fiber&) = delete;
  Fiber& operator=(const Fiber&) = delete;

  /// `from`, which runs, waits until something switches to it; `to` goes on.
  static void switch_between(Fiber& from, Fiber& to) {
    from.stack_in_use_.leave_for(to.stack_in_use_, false);
    from.go_on_in(to);
    from.stack_in_use_.arrive();
  }

 private:
  static void live(void* fiber);

#ifdef SIMT_SWITCHES_STACKS
  void go_on_in(Fiber& to) { simt_switch_stacks(&stack_pointer_, to.stack_pointer_); }

  void* stack_pointer_ = nullptr;  // while it waits
#else
  void go_on_in(Fiber& to);

  ucontext_t context_;  // while it waits
#endif
  [[no_unique_address]] StackInUse stack_in_use_;
  std::byte* stack_ = nullptr;  // its lowest byte; null if it is the thread's
  void (*body_)(void*) = nullptr;
  void* argument_ = nullptr;
  Fiber* home_ = nullptr;
};

}  // namespace simt
