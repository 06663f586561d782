#include <cuda_runtime.h>

#include <cmath>

#include "kernels/cuda/check_cuda.h"
#include "tests/gpu/random_fill.h"

namespace flashcheck::bench {
namespace {

constexpr int kThreads = 256, kElementsAThread = 64;

/// The finalizer of SplitMix64 (Steele, Lea, Flood, Fast splittable pseudorandom number generators,
/// OOPSLA 2014).
__device__ uint64_t mix(uint64_t x) {
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9u;
  x = (x ^ (x >> 27)) * 0x94D049BB133111EBu;
  return x ^ (x >> 31);
}

__global__ void fill(Half* to, int64_t num_elements, uint64_t seed) {
  const int64_t first = (int64_t{blockIdx.x} * kThreads + threadIdx.x) * kElementsAThread;
  for (int64_t n = first; n < first + kElementsAThread && n < num_elements; n += 2) {
    const uint64_t bits = mix(seed + static_cast<uint64_t>(n) * 0x9E3779B97F4A7C15u);
    // Box and Muller: u in (0, 1], so that the logarithm is finite.
    const float u = (static_cast<float>(bits >> 40) + 1) * 0x1p-24f;
    const float angle = 6.2831853f * static_cast<float>(bits & 0xFFFFFFu) * 0x1p-24f;
    const float radius = sqrtf(-2 * logf(u));
    to[n] = from_float<Half>(radius * cosf(angle));
    if (n + 1 < num_elements) to[n + 1] = from_float<Half>(radius * sinf(angle));
  }
}

}  // namespace

void fill_with_normals(Half* to, int64_t num_elements, uint64_t seed) {
  if (num_elements == 0) return;
  constexpr int64_t kElementsABlock = int64_t{kThreads} * kElementsAThread;
  cudaLaunchConfig_t config = {};
  config.gridDim = dim3(static_cast<unsigned>((num_elements - 1) / kElementsABlock + 1));
  config.blockDim = dim3(kThreads);
  check_cuda(cudaLaunchKernelEx(&config, &fill, to, num_elements, seed), "fill");
}

}  // namespace flashcheck::bench
