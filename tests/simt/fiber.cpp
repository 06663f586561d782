#include "tests/simt/fiber.h"

#include <boost/context/preallocated.hpp>
#include <boost/context/protected_fixedsize_stack.hpp>
#include <memory>
#include <utility>

#include "tests/simt/sanitizer.h"

namespace simt {
namespace {

#ifdef SIMT_ASAN
constexpr std::size_t kStackBytes = 512 * 1024;  // red zones round every array
#else
constexpr std::size_t kStackBytes = 128 * 1024;  // a kernel's thread holds some hundred floats
#endif

constinit thread_local Fiber* leaving = nullptr;  // who made the last switch of this thread

}  // namespace

struct Switch {
  /// `gone_for_good`: the fiber's fake stack dies with it.
  static void announce(Fiber& from, Fiber& to, bool gone_for_good) {
    leaving = &from;
#ifdef SIMT_ASAN
    __sanitizer_start_switch_fiber(gone_for_good ? nullptr : &from.fake_stack_, to.stack_bottom_,
                                   to.stack_bytes_);
#else
    static_cast<void>(to);
    static_cast<void>(gone_for_good);
#endif
  }

  static void arrive(Fiber& at, boost::context::fiber&& from) {
#ifdef SIMT_ASAN
    const void* bottom = nullptr;
    std::size_t bytes = 0;
    __sanitizer_finish_switch_fiber(at.fake_stack_, &bottom, &bytes);
    leaving->stack_bottom_ = bottom;  // how the thread's own stack becomes known
    leaving->stack_bytes_ = bytes;
#else
    static_cast<void>(at);
#endif
    leaving->context_ = std::move(from);
  }

  static boost::context::fiber finish(Fiber& from, Fiber& home) {
    announce(from, home, true);
    return std::move(home.context_);
  }
};

Fiber::Fiber(void (*body)(void*), void* argument, Fiber& home) {
  boost::context::protected_fixedsize_stack stacks(kStackBytes);
  const boost::context::stack_context stack = stacks.allocate();
  stack_bottom_ = static_cast<const char*>(stack.sp) - stack.size;
  stack_bytes_ = stack.size;
  context_ = boost::context::fiber(
      std::allocator_arg, boost::context::preallocated(stack.sp, stack.size, stack), stacks,
      [this, body, argument, &home](boost::context::fiber&& from) {
        Switch::arrive(*this, std::move(from));
        body(argument);
        return Switch::finish(*this, home);
      });
}

void Fiber::switch_between(Fiber& from, Fiber& to) {
  Switch::announce(from, to, false);
  boost::context::fiber came = std::move(to.context_).resume();
  Switch::arrive(from, std::move(came));
}

}  // namespace simt
