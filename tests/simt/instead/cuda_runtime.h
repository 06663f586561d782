#pragma once

#include <cuda_runtime_api.h>

#include <bit>
#include <cstdint>
#include <cstring>
#include <functional>
#include <tuple>
#include <type_traits>
#include <utility>

#include "tests/simt/collectives.h"
#include "tests/simt/launch.h"
#include "tests/simt/site.h"

// CUDA's words in kernels, for the emulator. __shared__ is not among them: shared memory comes from
// ptx::dynamic_shared_memory().

#define __global__
#define __device__
#define __host__
#define __forceinline__ inline
#define __grid_constant__
#define __launch_bounds__(...)
#define __align__(bytes) alignas(bytes)

using uint3 = simt::Index3;  // of threadIdx, blockIdx, blockDim and gridDim

constexpr int warpSize = simt::kWarpSize;

inline void __syncthreads(simt::Site site = simt::Site::here()) { simt::sync_threads(site); }

inline int __syncthreads_or(int predicate, simt::Site site = simt::Site::here()) {
  return simt::sync_threads_or(predicate != 0, site);
}

inline void __syncwarp(unsigned mask = 0xFFFFFFFFu, simt::Site site = simt::Site::here()) {
  simt::sync_warp(mask, site);
}

inline unsigned __ballot_sync(unsigned mask, int predicate, simt::Site site = simt::Site::here()) {
  return simt::ballot(mask, predicate != 0, site);
}

inline int __any_sync(unsigned mask, int predicate, simt::Site site = simt::Site::here()) {
  return simt::any(mask, predicate != 0, site);
}

template <typename T>
T __shfl_sync(unsigned mask, T value, int source, int width = simt::kWarpSize,
              simt::Site site = simt::Site::here()) {
  return simt::from_bits<T>(simt::shuffle(mask, simt::to_bits(value), source, width, site));
}

template <typename T>
T __shfl_xor_sync(unsigned mask, T value, int lane_mask, int width = simt::kWarpSize,
                  simt::Site site = simt::Site::here()) {
  return simt::from_bits<T>(simt::shuffle_xor(mask, simt::to_bits(value), lane_mask, width, site));
}

template <typename T>
cudaError_t cudaFuncSetAttribute(T* kernel, cudaFuncAttribute attribute, int value) {
  return simt::set_function_attribute(reinterpret_cast<const void*>(kernel), attribute, value);
}

template <typename... Parameters>
cudaError_t cudaFuncGetAttributes(cudaFuncAttributes* attributes, void (*)(Parameters...)) {
  attributes->maxThreadsPerBlock = 1024;
  return simt::function_attributes();
}

/// Runs the whole grid before it returns. What a kernel must not do is thrown as a simt::Error.
template <typename... Parameters, typename... Arguments>
cudaError_t cudaLaunchKernelEx(const cudaLaunchConfig_t* config, void (*kernel)(Parameters...),
                               Arguments&&... arguments) {
  const std::tuple<std::remove_cv_t<Parameters>...> copies(std::forward<Arguments>(arguments)...);
  return simt::launch(*config, reinterpret_cast<const void*>(kernel),
                      [&] { std::apply(kernel, copies); });
}
