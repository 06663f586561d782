#pragma once

#include <boost/context/fiber.hpp>
#include <cstddef>

namespace simt {

/// A stack that runs while another waits: that of the operating system's thread, or one of its own.
/// Address sanitizer is told of each switch.
class Fiber {
 public:
  /// Stands for the thread that makes it.
  Fiber() = default;
  /// Runs `body(argument)` at the first switch to it. When the body returns, `home` goes on.
  Fiber(void (*body)(void*), void* argument, Fiber& home);
  Fiber(const Fiber&) = delete;
  Fiber& operator=(const Fiber&) = delete;

  /// `from`, which runs, waits until something switches to it; `to` goes on.
  static void switch_between(Fiber& from, Fiber& to);

 private:
  boost::context::fiber context_;  // where it waits; empty while it runs
  void* fake_stack_ = nullptr;     // address sanitizer's own, of a waiting fiber
  const void* stack_bottom_ = nullptr;
  std::size_t stack_bytes_ = 0;
  friend struct Switch;
};

}  // namespace simt
