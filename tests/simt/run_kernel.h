#pragma once

#include <cuda_runtime.h>
#include <doctest/doctest.h>

#include <cstddef>
#include <string>
#include <utility>

#include "tests/simt/error.h"

namespace simt {

inline cudaLaunchConfig_t launch_config(dim3 grid, dim3 block, std::size_t shared_bytes) {
  cudaLaunchConfig_t config{};
  config.gridDim = grid;
  config.blockDim = block;
  config.dynamicSmemBytes = shared_bytes;
  return config;
}

/// Launches `kernel` as `grid` blocks of `block` threads, which must not be refused.
template <typename... Parameters, typename... Arguments>
void run_kernel(dim3 grid, dim3 block, std::size_t shared_bytes, void (*kernel)(Parameters...),
                Arguments&&... arguments) {
  const cudaLaunchConfig_t config = launch_config(grid, block, shared_bytes);
  const cudaError_t status =
      cudaLaunchKernelEx(&config, kernel, std::forward<Arguments>(arguments)...);
  REQUIRE(status == cudaSuccess);  // apart: REQUIRE would keep exceptions to itself
}

/// What the emulator says against the kernel; "" if nothing.
template <typename... Parameters, typename... Arguments>
std::string error_of(dim3 grid, dim3 block, std::size_t shared_bytes, void (*kernel)(Parameters...),
                     Arguments&&... arguments) {
  try {
    run_kernel(grid, block, shared_bytes, kernel, std::forward<Arguments>(arguments)...);
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

}  // namespace simt
