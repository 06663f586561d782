#include "kernels/cuda/flash_attention.h"

#include <cuda_runtime.h>

#include <cstdint>
#include <limits>
#include <stdexcept>
#include <vector>

#include "kernels/cuda/check_cuda.h"
#include "kernels/cuda/device_buffer.h"
#include "kernels/cuda/devices.h"
#include "kernels/cuda/launch.h"
#include "kernels/cuda/launch_plan.h"
#include "kernels/cuda/tile_shape.h"

namespace flashcheck {
namespace {

/// The regions' twins on the device.
class DeviceRegions {
 public:
  explicit DeviceRegions(std::span<const HostRegion> regions) : host_(regions) {
    for (const HostRegion& region : host_) {
      device_.emplace_back(region.size_bytes);
      copy(device_.back().begin(), region.begin, region.size_bytes, cudaMemcpyHostToDevice);
    }
  }

  /// Where on the device the byte is that `pointer` has on the host. Null if it is null, or behind
  /// a region's last byte, as that of an empty tensor may be.
  template <typename T>
  T* twin(T* pointer) const {
    const auto address = reinterpret_cast<uintptr_t>(pointer);
    for (size_t i = 0; i < host_.size(); ++i) {
      const uintptr_t at = address - reinterpret_cast<uintptr_t>(host_[i].begin);
      if (at >= static_cast<uintptr_t>(host_[i].size_bytes)) continue;
      return reinterpret_cast<T*>(device_[i].begin() + at);
    }
    return nullptr;
  }

  void copy_written_back() const {
    for (size_t i = 0; i < host_.size(); ++i) {
      if (!host_[i].is_written) continue;
      copy(host_[i].begin, device_[i].begin(), host_[i].size_bytes, cudaMemcpyDeviceToHost);
    }
  }

 private:
  static void copy(void* to, const void* from, int64_t size_bytes, cudaMemcpyKind kind) {
    if (size_bytes == 0) return;
    check_cuda(cudaMemcpy(to, from, static_cast<size_t>(size_bytes), kind), "cudaMemcpy");
  }

  std::span<const HostRegion> host_;
  std::vector<DeviceBuffer> device_;
};

AttentionParams on_device(const AttentionParams& params, const DeviceRegions& regions) {
  AttentionParams device = params;
  device.q = regions.twin(params.q);
  device.k = regions.twin(params.k);
  device.v = regions.twin(params.v);
  device.out = regions.twin(params.out);
  device.lse = regions.twin(params.lse);
  device.cu_seqlens_q = regions.twin(params.cu_seqlens_q);
  device.cu_seqlens_k = regions.twin(params.cu_seqlens_k);
  device.alibi_slopes = regions.twin(params.alibi_slopes);
  device.block_table = regions.twin(params.block_table);
  device.mm_prefix_ranges = regions.twin(params.mm_prefix_ranges);
  return device;
}

int attribute(cudaDeviceAttr name, int device) {
  int value = 0;
  check_cuda(cudaDeviceGetAttribute(&value, name, device), "cudaDeviceGetAttribute");
  return value;
}

}  // namespace

std::string cuda_unavailable(int device) {
  int num_devices = 0;
  const cudaError_t status = cudaGetDeviceCount(&num_devices);
  if (status != cudaSuccess) {
    cudaGetLastError();  // not the next call's error
    return std::string(cudaGetErrorString(status)) +
           " (does nvidia-smi list a device? Without it the NVIDIA driver is missing)";
  }
  if (device < 0 || device >= num_devices) {
    return "there is no device " + std::to_string(device) + ": CUDA finds " +
           std::to_string(num_devices);
  }
  try {
    const int major = attribute(cudaDevAttrComputeCapabilityMajor, device);
    const int minor = attribute(cudaDevAttrComputeCapabilityMinor, device);
    if (major < 8) {
      return "compute capability " + std::to_string(major) + "." + std::to_string(minor) +
             " is too old: the kernel needs 8.0";
    }
    check_cuda(cudaSetDevice(device), "cudaSetDevice");
    check_machine_code();
  } catch (const std::runtime_error& error) {
    cudaGetLastError();
    return error.what();
  }
  return "";
}

std::string cuda_refusal(const AttentionParams& params) {
  const LaunchParams& launch = params.launch;
  if (params.dtype != Dtype::kF16 && params.dtype != Dtype::kBF16) {
    return "the kernel multiplies f16 and bf16, and this call has " +
           std::string(name_of(params.dtype));
  }
  if (!params.rounds_p) {
    return "tensor cores take P rounded to the input's dtype, and the case says it is not";
  }
  if (launch.d == 0 || launch.d % 8 != 0 || launch.d > 512) {
    return "the head dim must be a multiple of 8 up to 512, and it is " + std::to_string(launch.d);
  }
  if (launch.h == 0) return "";
  const LaunchPlan plan = plan_launch(params, {});
  if (plan.num_blocks > std::numeric_limits<int32_t>::max()) {
    return "a grid has at most 2147483647 blocks, and this call needs " +
           std::to_string(plan.num_blocks);
  }
  if (plan.num_rows_a_head > std::numeric_limits<uint32_t>::max()) {
    return "the kernel counts at most 4294967295 rows of the heads that share a kv head, and a "
           "sequence has " +
           std::to_string(plan.num_rows_a_head);
  }
  return "";
}

void cuda_flash_attention(const AttentionParams& params, const Execution& execution) {
  if (params.launch.h == 0) return;
  check_cuda(cudaSetDevice(execution.device), "cudaSetDevice");
  LaunchPlan plan = plan_launch(params, cuda_device_size(execution.device));
  const DeviceRegions regions(execution.regions);
  const DeviceBuffer partial_o(plan.num_partial_o * int64_t{sizeof(float)});
  const DeviceBuffer partial_softmax(plan.num_partial_softmax * int64_t{sizeof(PartialSoftmax)});
  plan.splits.partial_o = reinterpret_cast<float*>(partial_o.begin());
  plan.splits.partial_softmax = reinterpret_cast<PartialSoftmax*>(partial_softmax.begin());

  launch_attention(on_device(params, regions), plan, /*stream=*/nullptr);
  check_cuda(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
  regions.copy_written_back();
}

}  // namespace flashcheck
