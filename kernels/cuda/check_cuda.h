#pragma once

#include <cuda_runtime.h>

#include <source_location>

namespace flashcheck {

/// Throws std::runtime_error unless `status` is cudaSuccess; the text names the call, where it was
/// made, and what CUDA says of it.
void check_cuda(cudaError_t status, const char* call,
                std::source_location place = std::source_location::current());

}  // namespace flashcheck
