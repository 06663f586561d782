#pragma once

#include <cstdint>
#include <string>

#include "src/spec/case.h"
#include "src/spec/wrapper_function.h"

namespace flashcheck {

/// The scalar arguments, in the order of kArgKeys.
enum class ArgName : uint8_t {
  kSoftmaxScale,
  kCausal,
  kWindowSizeLeft,
  kWindowSizeRight,
  kMaxSeqlenQ,
  kMaxSeqlenK,
  kPageBlockSize,
  kSoftcap,
  kUseGqaPacking
};
inline constexpr int kNumArgs = 9;

/// Whether a function takes an argument, as its Rust signature has it. out and lse are no arguments
/// but a result, and always optional.
Presence presence_of(const WrapperFunction& function, TensorName tensor);
Presence presence_of(const WrapperFunction& function, ArgName arg);

/// "q, k, v, seqlens_q, seqlens_k": all that a function takes.
std::string tensors_of(const WrapperFunction& function);
std::string args_of(const WrapperFunction& function);

}  // namespace flashcheck
