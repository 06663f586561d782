#include "tests/simt/runtime.h"

#include <array>
#include <cstring>

#include "tests/simt/device.h"
#include "tests/simt/device_memory.h"

namespace simt {
namespace {

constinit thread_local cudaError_t last_error = cudaSuccess;

struct ErrorText {
  cudaError_t error;
  const char* name;
  const char* text;
};

constexpr ErrorText kUnrecognized = {cudaErrorUnknown, "unrecognized error code",
                                     "unrecognized error code"};
constexpr std::array kErrorTexts = {
    ErrorText{cudaSuccess, "cudaSuccess", "no error"},
    ErrorText{cudaErrorInvalidValue, "cudaErrorInvalidValue", "invalid argument"},
    ErrorText{cudaErrorMemoryAllocation, "cudaErrorMemoryAllocation", "out of memory"},
    ErrorText{cudaErrorInvalidConfiguration, "cudaErrorInvalidConfiguration",
              "invalid configuration argument"},
    ErrorText{cudaErrorInvalidMemcpyDirection, "cudaErrorInvalidMemcpyDirection",
              "invalid copy direction for memcpy"},
    ErrorText{cudaErrorInsufficientDriver, "cudaErrorInsufficientDriver",
              "CUDA driver version is insufficient for CUDA runtime version"},
    ErrorText{cudaErrorNoDevice, "cudaErrorNoDevice", "no CUDA-capable device is detected"},
    ErrorText{cudaErrorInvalidDevice, "cudaErrorInvalidDevice", "invalid device ordinal"},
    ErrorText{cudaErrorNoKernelImageForDevice, "cudaErrorNoKernelImageForDevice",
              "no kernel image is available for execution on the device"},
    ErrorText{cudaErrorIllegalAddress, "cudaErrorIllegalAddress",
              "an illegal memory access was encountered"},
    ErrorText{cudaErrorLaunchFailure, "cudaErrorLaunchFailure", "unspecified launch failure"},
    ErrorText{cudaErrorUnknown, "cudaErrorUnknown", "unknown error"},
};

const ErrorText& text_of(cudaError_t error) {
  for (const ErrorText& entry : kErrorTexts) {
    if (entry.error == error) return entry;
  }
  return kUnrecognized;
}

/// The error of a call that names `device`, if it has one before it does anything.
std::optional<cudaError_t> refusal(std::string_view call, int device_number) {
  if (const auto failure = injected_failure(call)) return failure;
  if (device().count == 0) return cudaErrorNoDevice;
  if (device_number < 0 || device_number >= device().count) return cudaErrorInvalidDevice;
  return std::nullopt;
}

constinit thread_local int device_of_this_thread = 0;

}  // namespace

Device& device() {
  static Device the_device;
  return the_device;
}

std::optional<cudaError_t> injected_failure(std::string_view call) {
  if (device().failing_call != call) return std::nullopt;
  return static_cast<cudaError_t>(device().failure);
}

cudaError_t returned(cudaError_t error) {
  if (error != cudaSuccess) last_error = error;
  return error;
}

}  // namespace simt

using simt::device;
using simt::injected_failure;
using simt::refusal;
using simt::returned;

cudaError_t cudaGetDeviceCount(int* count) {
  *count = 0;
  if (const auto error = refusal("cudaGetDeviceCount", 0)) return returned(*error);
  *count = device().count;
  return cudaSuccess;
}

cudaError_t cudaSetDevice(int number) {
  if (const auto error = refusal("cudaSetDevice", number)) return returned(*error);
  simt::device_of_this_thread = number;
  return cudaSuccess;
}

cudaError_t cudaGetDevice(int* number) {
  if (const auto error = refusal("cudaGetDevice", 0)) return returned(*error);
  *number = simt::device_of_this_thread;
  return cudaSuccess;
}

cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr attribute, int number) {
  if (const auto error = refusal("cudaDeviceGetAttribute", number)) return returned(*error);
  switch (attribute) {
    case cudaDevAttrMultiProcessorCount:
      *value = device().num_multiprocessors;
      return cudaSuccess;
    case cudaDevAttrComputeCapabilityMajor:
      *value = device().compute_major;
      return cudaSuccess;
    case cudaDevAttrComputeCapabilityMinor:
      *value = device().compute_minor;
      return cudaSuccess;
    case cudaDevAttrMaxSharedMemoryPerMultiprocessor:
      *value = device().shared_bytes_per_multiprocessor;
      return cudaSuccess;
    case cudaDevAttrMaxSharedMemoryPerBlockOptin:
      *value = device().max_shared_bytes_per_block;
      return cudaSuccess;
  }
  return returned(cudaErrorInvalidValue);
}

cudaError_t cudaGetDeviceProperties(cudaDeviceProp* properties, int number) {
  if (const auto error = refusal("cudaGetDeviceProperties", number)) return returned(*error);
  *properties = {};
  std::strcpy(properties->name, "Emulated device");
  properties->totalGlobalMem = static_cast<std::size_t>(device().memory_bytes);
  properties->major = device().compute_major;
  properties->minor = device().compute_minor;
  properties->multiProcessorCount = device().num_multiprocessors;
  properties->sharedMemPerBlockOptin =
      static_cast<std::size_t>(device().max_shared_bytes_per_block);
  return cudaSuccess;
}

cudaError_t cudaDeviceSynchronize() {
  if (const auto error = refusal("cudaDeviceSynchronize", 0)) return returned(*error);
  return cudaSuccess;
}

cudaError_t cudaMalloc(void** pointer, std::size_t bytes) {
  *pointer = nullptr;
  if (const auto error = refusal("cudaMalloc", 0)) return returned(*error);
  if (bytes == 0) return cudaSuccess;
  if (bytes > static_cast<std::size_t>(device().memory_bytes)) {
    return returned(cudaErrorMemoryAllocation);
  }
  *pointer = simt::allocate_on_device(bytes);
  return *pointer == nullptr ? returned(cudaErrorMemoryAllocation) : cudaSuccess;
}

cudaError_t cudaFree(void* pointer) {
  if (const auto error = refusal("cudaFree", 0)) return returned(*error);
  return simt::free_on_device(pointer) ? cudaSuccess : returned(cudaErrorInvalidValue);
}

cudaError_t cudaMemcpy(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind) {
  if (const auto error = refusal("cudaMemcpy", 0)) return returned(*error);
  if (kind < cudaMemcpyHostToHost || kind > cudaMemcpyDefault) {
    return returned(cudaErrorInvalidMemcpyDirection);
  }
  if (bytes != 0) std::memmove(to, from, bytes);
  return cudaSuccess;
}

cudaError_t cudaMemset(void* pointer, int value, std::size_t bytes) {
  if (const auto error = refusal("cudaMemset", 0)) return returned(*error);
  if (bytes != 0) std::memset(pointer, value, bytes);
  return cudaSuccess;
}

cudaError_t cudaGetLastError() {
  const cudaError_t error = simt::last_error;
  simt::last_error = cudaSuccess;
  return error;
}

cudaError_t cudaPeekAtLastError() { return simt::last_error; }

const char* cudaGetErrorString(cudaError_t error) { return simt::text_of(error).text; }

const char* cudaGetErrorName(cudaError_t error) { return simt::text_of(error).name; }
