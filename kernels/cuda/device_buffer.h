#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>
#include <new>
#include <utility>

#include "kernels/cuda/check_cuda.h"

namespace flashcheck {

/// Memory of the current device. Owns it.
class DeviceBuffer {
 public:
  DeviceBuffer() = default;
  /// Throws std::bad_alloc if the device has too little. 0 bytes are a null pointer.
  explicit DeviceBuffer(int64_t size_bytes) {
    if (size_bytes == 0) return;
    const cudaError_t status = cudaMalloc(&begin_, static_cast<size_t>(size_bytes));
    if (status == cudaErrorMemoryAllocation) {
      cudaGetLastError();  // or the next launch would report it
      throw std::bad_alloc();
    }
    check_cuda(status, "cudaMalloc");
  }
  DeviceBuffer(DeviceBuffer&& other) noexcept : begin_(std::exchange(other.begin_, nullptr)) {}
  DeviceBuffer& operator=(DeviceBuffer&& other) noexcept {
    std::swap(begin_, other.begin_);
    return *this;
  }
  ~DeviceBuffer() { cudaFree(begin_); }

  std::byte* begin() const { return static_cast<std::byte*>(begin_); }

 private:
  void* begin_ = nullptr;
};

}  // namespace flashcheck
