#pragma once

#include <cstddef>

#if defined(__SANITIZE_ADDRESS__)
#define SIMT_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define SIMT_ASAN 1
#endif
#endif

#ifdef SIMT_ASAN
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#endif

namespace simt {

// All that the address sanitizer is told; nothing where it is not there.

#ifdef SIMT_ASAN

constexpr bool kHasAddressSanitizer = true;

inline void forbid_access(const void* begin, std::size_t bytes) {
  __asan_poison_memory_region(begin, bytes);
}
inline void allow_access(const void* begin, std::size_t bytes) {
  __asan_unpoison_memory_region(begin, bytes);
}

/// Which stack is in use. Each has a fake one beside it, for locals whose use is checked.
class StackInUse {
 public:
  void set(const void* bottom, std::size_t bytes) {
    bottom_ = bottom;
    bytes_ = bytes;
  }
  /// Before a switch; `is_last`: this stack will not be used again.
  void leave_for(const StackInUse& to, bool is_last) {
    __sanitizer_start_switch_fiber(is_last ? nullptr : &fake_, to.bottom_, to.bytes_);
  }
  /// After it. Where the stack that was left is, the sanitizer knows even of a thread's own.
  void arrive_from(StackInUse& left) {
    __sanitizer_finish_switch_fiber(fake_, &left.bottom_, &left.bytes_);
  }

 private:
  void* fake_ = nullptr;
  const void* bottom_ = nullptr;
  std::size_t bytes_ = 0;
};

/// While it lives, frames lie on the stack itself and not on the fake one: the sanitizer takes it
/// for a switch to this same stack.
class WithoutFakeStack {
 public:
  WithoutFakeStack() { __sanitizer_start_switch_fiber(&fake_, nullptr, 0); }
  ~WithoutFakeStack() {
    const void* bottom = nullptr;
    std::size_t bytes = 0;
    __sanitizer_finish_switch_fiber(fake_, &bottom, &bytes);  // says where this stack was
    __sanitizer_start_switch_fiber(&fake_, bottom, bytes);
    __sanitizer_finish_switch_fiber(fake_, nullptr, nullptr);
  }
  WithoutFakeStack(const WithoutFakeStack&) = delete;
  WithoutFakeStack& operator=(const WithoutFakeStack&) = delete;

 private:
  void* fake_ = nullptr;
};

#else

constexpr bool kHasAddressSanitizer = false;

inline void forbid_access(const void*, std::size_t) {}
inline void allow_access(const void*, std::size_t) {}

struct StackInUse {
  void set(const void*, std::size_t) {}
  void leave_for(const StackInUse&, bool) {}
  void arrive_from(StackInUse&) {}
};

struct WithoutFakeStack {
  WithoutFakeStack() {}  // not trivial, so that a variable of it counts as used
};

#endif

}  // namespace simt
