#include "tests/simt/fiber.h"

#include <boost/context/preallocated.hpp>
#include <boost/context/protected_fixedsize_stack.hpp>
#include <cstddef>
#include <memory>

namespace simt {
namespace {

// A kernel's thread holds some hundred floats; with the sanitizer there are red zones round them.
constexpr std::size_t kStackBytes = (kHasAddressSanitizer ? 512 : 128) * 1024;

/// Stacks that begin at the same place of a page would push each other out of the cache.
std::size_t stagger_bytes() {
  constexpr std::size_t kStep = 320, kNumSteps = 32;
  static constinit thread_local std::size_t num_stacks = 0;
  return num_stacks++ % kNumSteps * kStep;
}

}  // namespace

Fiber::Fiber(void (*body)(void*), void* argument, Fiber& home) {
  boost::context::protected_fixedsize_stack stacks(kStackBytes);
  const boost::context::stack_context stack = stacks.allocate();
  stack_.set(static_cast<const char*>(stack.sp) - stack.size, stack.size);
  const std::size_t unused = stagger_bytes();
  const boost::context::preallocated top(static_cast<char*>(stack.sp) - unused, stack.size - unused,
                                         stack);
  // Boost enters the new stack at once, and leaves its outermost frame there.
  const WithoutFakeStack outermost_frame;
  context_ = boost::context::fiber(std::allocator_arg, top, stacks,
                                   [this, body, argument, &home](boost::context::fiber&& from) {
                                     arrive(std::move(from));
                                     body(argument);
                                     leave_for(home, true);
                                     return std::move(home.context_);
                                   });
}

}  // namespace simt
