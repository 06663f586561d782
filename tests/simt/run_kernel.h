#pragma once

#include <cuda_runtime.h>
#include <doctest/doctest.h>

#include <utility>

namespace simt {

/// Launches `kernel` as `grid` blocks of `block` threads, which must not be refused.
template <typename... Parameters, typename... Arguments>
void run_kernel(dim3 grid, dim3 block, std::size_t shared_bytes, void (*kernel)(Parameters...),
                Arguments&&... arguments) {
  cudaLaunchConfig_t config{};
  config.gridDim = grid;
  config.blockDim = block;
  config.dynamicSmemBytes = shared_bytes;
  REQUIRE(cudaLaunchKernelEx(&config, kernel, std::forward<Arguments>(arguments)...) ==
          cudaSuccess);
}

}  // namespace simt
