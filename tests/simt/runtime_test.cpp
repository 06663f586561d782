// The runtime's calls: what they do, and what they refuse as a device would.

#include <cuda_runtime.h>
#include <doctest/doctest.h>

#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "tests/simt/device.h"
#include "tests/simt/run_kernel.h"

namespace {

using simt::launch_config;

/// Puts the device back as it was.
struct OtherDevice {
  simt::Device before = simt::device();
  ~OtherDevice() {
    simt::device() = before;
    cudaGetLastError();
  }
};

struct Large {
  int numbers[64];
};

__global__ void fill(int* values, Large large) { values[threadIdx.x] = large.numbers[threadIdx.x]; }
__global__ void use_much() {}
__global__ void use_little() {}

cudaError_t launch(const cudaLaunchConfig_t& config, void (*kernel)()) {
  return cudaLaunchKernelEx(&config, kernel);
}

}  // namespace

TEST_CASE("Memory is as large as asked for, aligned, and full of ones") {
  std::byte* pointer = nullptr;
  REQUIRE(cudaMalloc(&pointer, 1000) == cudaSuccess);
  CHECK(reinterpret_cast<std::uintptr_t>(pointer) % 256 == 0);
  for (int i = 0; i < 1000; ++i) CHECK(pointer[i] == std::byte{0xFF});
  CHECK(cudaMemset(pointer, 3, 10) == cudaSuccess);
  std::vector<std::byte> host(1000, std::byte{7});
  CHECK(cudaMemcpy(pointer + 5, host.data(), 2, cudaMemcpyHostToDevice) == cudaSuccess);
  CHECK(cudaMemcpy(host.data(), pointer, 11, cudaMemcpyDeviceToHost) == cudaSuccess);
  const std::vector<int> expected = {3, 3, 3, 3, 3, 7, 7, 3, 3, 3, 255};
  for (std::size_t i = 0; i < 11; ++i) CHECK(std::to_integer<int>(host[i]) == expected[i]);
  CHECK(cudaFree(pointer) == cudaSuccess);

  CHECK(cudaMalloc(&pointer, 0) == cudaSuccess);
  CHECK(pointer == nullptr);
  CHECK(cudaFree(nullptr) == cudaSuccess);
  CHECK(cudaMalloc(&pointer, std::size_t{1} << 60) == cudaErrorMemoryAllocation);
  CHECK(cudaGetLastError() == cudaErrorMemoryAllocation);
}

TEST_CASE("Arguments are copied into the launch") {
  std::vector<int> values(64);
  Large large;
  for (int i = 0; i < 64; ++i) large.numbers[i] = i * i;
  simt::run_kernel(1, 64, 0, &fill, values.data(), large);
  for (int i = 0; i < 64; ++i) CHECK(values[static_cast<unsigned>(i)] == i * i);
}

TEST_CASE("A device has limits to the shape of a launch") {
  const auto status = [](dim3 grid, dim3 block) {
    return launch(launch_config(grid, block, 0), &use_little);
  };
  CHECK(status(1, 1) == cudaSuccess);
  CHECK(status(1, 1024) == cudaSuccess);
  CHECK(status(70000, 1) == cudaSuccess);
  CHECK(status(dim3(1, 65535), 1) == cudaSuccess);
  for (const auto& [grid, block] : std::vector<std::pair<dim3, dim3>>{{0, 1},
                                                                      {1, 0},
                                                                      {1, 1025},
                                                                      {1, {32, 33}},
                                                                      {1, {1, 1, 65}},
                                                                      {{1, 65536}, 1},
                                                                      {{1, 1, 65536}, 1},
                                                                      {{1, 0}, 1}}) {
    CHECK(status(grid, block) == cudaErrorInvalidConfiguration);
  }
  CHECK(cudaPeekAtLastError() == cudaErrorInvalidConfiguration);
  CHECK(cudaGetLastError() == cudaErrorInvalidConfiguration);
  CHECK(cudaGetLastError() == cudaSuccess);
}

TEST_CASE("More than 48 KiB of shared memory has to be asked for") {
  const OtherDevice other;
  simt::device().max_shared_bytes_per_block = 99 * 1024;
  const auto status = [](std::size_t bytes, void (*kernel)()) {
    return launch(launch_config(1, 32, bytes), kernel);
  };
  CHECK(status(48 * 1024, &use_much) == cudaSuccess);
  CHECK(status(48 * 1024 + 1, &use_much) == cudaErrorInvalidValue);
  const auto attribute = cudaFuncAttributeMaxDynamicSharedMemorySize;
  CHECK(cudaFuncSetAttribute(use_much, attribute, 99 * 1024 + 1) == cudaErrorInvalidValue);
  CHECK(cudaFuncSetAttribute(use_much, attribute, 99 * 1024) == cudaSuccess);
  CHECK(status(99 * 1024, &use_much) == cudaSuccess);
  CHECK(status(99 * 1024 + 1, &use_much) == cudaErrorInvalidValue);
  CHECK(status(49 * 1024, &use_little) == cudaErrorInvalidValue);
}

TEST_CASE("The device is what a test makes it") {
  const OtherDevice other;
  int value = 0;
  CHECK(cudaGetDeviceCount(&value) == cudaSuccess);
  CHECK(value == 1);
  simt::device().num_multiprocessors = 5;
  simt::device().compute_major = 9;
  simt::device().compute_minor = 3;
  CHECK(cudaDeviceGetAttribute(&value, cudaDevAttrMultiProcessorCount, 0) == cudaSuccess);
  CHECK(value == 5);
  CHECK(cudaDeviceGetAttribute(&value, cudaDevAttrComputeCapabilityMajor, 0) == cudaSuccess);
  CHECK(value == 9);
  CHECK(cudaDeviceGetAttribute(&value, cudaDevAttrComputeCapabilityMinor, 0) == cudaSuccess);
  CHECK(value == 3);
  CHECK(cudaDeviceGetAttribute(&value, cudaDevAttrMaxSharedMemoryPerBlockOptin, 0) == cudaSuccess);
  CHECK(value == 163 * 1024);
  cudaDeviceProp properties;
  CHECK(cudaGetDeviceProperties(&properties, 0) == cudaSuccess);
  CHECK(std::string(properties.name) == "Emulated device");
  CHECK(properties.major == 9);
  CHECK(properties.multiProcessorCount == 5);

  CHECK(cudaSetDevice(0) == cudaSuccess);
  CHECK(cudaSetDevice(1) == cudaErrorInvalidDevice);
  CHECK(cudaDeviceGetAttribute(&value, cudaDevAttrMultiProcessorCount, -1) ==
        cudaErrorInvalidDevice);
  simt::device().count = 0;
  CHECK(cudaGetDeviceCount(&value) == cudaErrorNoDevice);
  CHECK(value == 0);
  CHECK(launch(launch_config(1, 1, 0), &use_little) == cudaErrorNoDevice);
}

TEST_CASE("Any call can be made to fail, and errors have names and texts") {
  const OtherDevice other;
  simt::device().failure = cudaErrorLaunchFailure;
  void* pointer = nullptr;
  simt::device().failing_call = "cudaMalloc";
  CHECK(cudaMalloc(&pointer, 1) == cudaErrorLaunchFailure);
  simt::device().failing_call = "cudaLaunchKernelEx";
  CHECK(launch(launch_config(1, 1, 0), &use_little) == cudaErrorLaunchFailure);
  simt::device().failing_call = "cudaDeviceSynchronize";
  CHECK(cudaDeviceSynchronize() == cudaErrorLaunchFailure);
  simt::device().failing_call = "";
  CHECK(cudaDeviceSynchronize() == cudaSuccess);
  CHECK(std::string(cudaGetErrorName(cudaErrorLaunchFailure)) == "cudaErrorLaunchFailure");
  CHECK(std::string(cudaGetErrorString(cudaErrorNoDevice)) == "no CUDA-capable device is detected");
  CHECK(std::string(cudaGetErrorString(static_cast<cudaError_t>(500))) ==
        "unrecognized error code");
}
