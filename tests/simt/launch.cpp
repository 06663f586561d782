#include "tests/simt/launch.h"

#include <map>
#include <mutex>
#include <utility>

#include "tests/simt/block.h"
#include "tests/simt/device.h"
#include "tests/simt/device_memory.h"
#include "tests/simt/runtime.h"

namespace simt {
namespace {

constexpr int kDefaultSharedBytes = 48 * 1024;  // what a kernel has without the opt-in

std::mutex mutex;
std::map<const void*, int> max_shared_bytes;  // of the kernels that opted in

int max_shared_bytes_of(const void* kernel) {
  const std::lock_guard lock(mutex);
  const auto found = max_shared_bytes.find(kernel);
  return found == max_shared_bytes.end() ? kDefaultSharedBytes : found->second;
}

Index3 extent(const dim3& d) { return {d.x, d.y, d.z}; }

bool is_valid_grid(const dim3& grid) {
  return grid.x >= 1 && grid.x <= 0x7FFFFFFFu && grid.y >= 1 && grid.y <= 65535 && grid.z >= 1 &&
         grid.z <= 65535;
}

bool is_valid_block(const dim3& block) {
  return block.x >= 1 && block.x <= 1024 && block.y >= 1 && block.y <= 1024 && block.z >= 1 &&
         block.z <= 64 && uint64_t{block.x} * block.y * block.z <= 1024;
}

}  // namespace

cudaError_t set_function_attribute(const void* kernel, cudaFuncAttribute attribute, int value) {
  if (const auto failure = injected_failure("cudaFuncSetAttribute")) return returned(*failure);
  if (attribute != cudaFuncAttributeMaxDynamicSharedMemorySize || value < 0 ||
      value > device().max_shared_bytes_per_block) {
    return returned(cudaErrorInvalidValue);
  }
  const std::lock_guard lock(mutex);
  max_shared_bytes[kernel] = value;
  return cudaSuccess;
}

cudaError_t function_attributes() {
  return returned(injected_failure("cudaFuncGetAttributes").value_or(cudaSuccess));
}

cudaError_t launch(const cudaLaunchConfig_t& config, const void* kernel,
                   std::function<void()> thread) {
  if (const auto failure = injected_failure("cudaLaunchKernelEx")) return returned(*failure);
  if (device().count == 0) return returned(cudaErrorNoDevice);
  if (!is_valid_grid(config.gridDim) || !is_valid_block(config.blockDim)) {
    return returned(cudaErrorInvalidConfiguration);
  }
  if (config.dynamicSmemBytes > static_cast<std::size_t>(max_shared_bytes_of(kernel))) {
    return returned(cudaErrorInvalidValue);
  }
  this_block().run({extent(config.gridDim), extent(config.blockDim), config.dynamicSmemBytes,
                    std::move(thread)});
  check_device_memory();
  return cudaSuccess;
}

}  // namespace simt
