#include "kernels/cuda/devices.h"

#include <cuda_runtime_api.h>

#include <cstdio>

#include "kernels/cuda/check_cuda.h"

namespace flashcheck {
namespace {

std::string describe(int device) {
  cudaDeviceProp properties{};
  const cudaError_t error = cudaGetDeviceProperties(&properties, device);
  if (error != cudaSuccess) return cudaGetErrorString(error);
  char text[64];
  std::snprintf(text, sizeof(text), ", compute capability %d.%d, %.1f GiB", properties.major,
                properties.minor, static_cast<double>(properties.totalGlobalMem) / 0x1p30);
  return std::string(properties.name) + text;
}

}  // namespace

std::vector<std::string> cuda_devices() {
  int count = 0;
  if (cudaGetDeviceCount(&count) != cudaSuccess) {
    cudaGetLastError();  // not the next call's error
    return {};
  }
  std::vector<std::string> devices;
  for (int device = 0; device < count; ++device) devices.push_back(describe(device));
  return devices;
}

DeviceSize cuda_device_size(int device) {
  DeviceSize size;
  check_cuda(
      cudaDeviceGetAttribute(&size.num_multiprocessors, cudaDevAttrMultiProcessorCount, device),
      "cudaDeviceGetAttribute");
  check_cuda(cudaDeviceGetAttribute(&size.shared_bytes, cudaDevAttrMaxSharedMemoryPerMultiprocessor,
                                    device),
             "cudaDeviceGetAttribute");
  return size;
}

}  // namespace flashcheck
