#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>
#include <cstring>
#include <functional>
#include <type_traits>

#include "tests/simt/warp.h"

namespace simt {

// What <cuda_runtime.h> is written with.

/// A value that a shuffle can carry, and back.
template <typename T>
uint64_t to_bits(const T& value) {
  static_assert(std::is_arithmetic_v<T> && sizeof(T) <= sizeof(uint64_t));
  uint64_t bits = 0;
  std::memcpy(&bits, &value, sizeof(T));
  return bits;
}

template <typename T>
T from_bits(uint64_t bits) {
  T value;
  std::memcpy(&value, &bits, sizeof(T));
  return value;
}

cudaError_t set_function_attribute(const void* kernel, cudaFuncAttribute attribute, int value);

/// What asking for a kernel's attributes returns.
cudaError_t function_attributes();

/// Runs `thread` as every thread of the grid, within the device's limits and the kernel's.
cudaError_t launch(const cudaLaunchConfig_t& config, const void* kernel,
                   std::function<void()> thread);

}  // namespace simt
