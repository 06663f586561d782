#include "tests/simt/fiber.h"

#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <new>

#ifdef SIMT_SWITCHES_STACKS
// What a function must leave as it was lies on the stack of who waits; the rest is for the compiler
// to save. It returns with `ret`, so that the processor predicts it and all returns that follow:
// lanes that meet have called the same functions.
asm(R"(
.text
.type simt_switch_stacks, @function
.globl simt_switch_stacks
simt_switch_stacks:
  pushq %rbp
  pushq %rbx
  pushq %r12
  pushq %r13
  pushq %r14
  pushq %r15
  movq %rsp, (%rdi)
  movq %rsi, %rsp
  popq %r15
  popq %r14
  popq %r13
  popq %r12
  popq %rbx
  popq %rbp
  ret
.size simt_switch_stacks, . - simt_switch_stacks

.type simt_begin_stack, @function
.globl simt_begin_stack
simt_begin_stack:
  movq %r12, %rdi
  call *%rbx
  ud2
.size simt_begin_stack, . - simt_begin_stack
)");

/// Where a new stack goes on: calls the function in rbx with what is in r12.
extern "C" void simt_begin_stack();
#endif

namespace simt {
namespace {

// A kernel's thread holds some hundred floats; with the sanitizer there are red zones round them.
constexpr std::size_t kStackBytes = (kHasAddressSanitizer ? 512 : 128) * 1024;

std::size_t page_bytes() {
  static const auto bytes = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  return bytes;
}

/// The lowest page is out of bounds.
std::byte* allocate_stack() {
  void* stack = mmap(nullptr, kStackBytes, PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
  if (stack == MAP_FAILED || mprotect(stack, page_bytes(), PROT_NONE) != 0) throw std::bad_alloc();
  return static_cast<std::byte*>(stack);
}

/// Stacks that begin at the same place of a page would push each other out of the cache.
std::size_t stagger_bytes() {
  constexpr std::size_t kStep = 320, kNumSteps = 32;
  static constinit thread_local std::size_t num_stacks = 0;
  return num_stacks++ % kNumSteps * kStep;
}

}  // namespace

void Fiber::live(void* argument) {
  Fiber& fiber = *static_cast<Fiber*>(argument);
  fiber.stack_in_use_.arrive();
  fiber.body_(fiber.argument_);
  fiber.stack_in_use_.leave_for(fiber.home_->stack_in_use_, true);
  fiber.go_on_in(*fiber.home_);
  std::abort();  // nothing switches to a fiber that is over
}

Fiber::~Fiber() {
  if (stack_ == nullptr) return;
  allow_access(stack_ + page_bytes(), kStackBytes - page_bytes());
  munmap(stack_, kStackBytes);
}

#ifdef SIMT_SWITCHES_STACKS

Fiber::Fiber(void (*body)(void*), void* argument, Fiber& home)
    : stack_(allocate_stack()), body_(body), argument_(argument), home_(&home) {
  const std::size_t bytes = kStackBytes - stagger_bytes();
  stack_in_use_.set(stack_, bytes);
  // As simt_switch_stacks leaves a stack: r15, r14, r13, r12, rbx, rbp, and where to go on.
  void** top = reinterpret_cast<void**>(stack_ + bytes) - 9;  // aligned for a call behind them
  top[3] = this;
  top[4] = reinterpret_cast<void*>(&Fiber::live);
  top[6] = reinterpret_cast<void*>(&simt_begin_stack);
  stack_pointer_ = top;
}

#else

namespace {

constinit thread_local Fiber* entered = nullptr;

}  // namespace

Fiber::Fiber(void (*body)(void*), void* argument, Fiber& home)
    : stack_(allocate_stack()), body_(body), argument_(argument), home_(&home) {
  const std::size_t bytes = kStackBytes - stagger_bytes();
  stack_in_use_.set(stack_, bytes);
  getcontext(&context_);
  context_.uc_stack.ss_sp = stack_;
  context_.uc_stack.ss_size = bytes;
  makecontext(
      &context_, [] { live(entered); }, 0);
}

void Fiber::go_on_in(Fiber& to) {
  entered = &to;
  swapcontext(&context_, &to.context_);
}

#endif

}  // namespace simt
