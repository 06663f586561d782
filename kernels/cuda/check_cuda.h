#pragma once

#include <cuda_runtime_api.h>

namespace flashcheck {

/// Throws std::runtime_error unless `status` is cudaSuccess; the text names the call, where it was
/// made, and what CUDA says of it. (Clang 14 has no std::source_location.)
void check_cuda(cudaError_t status, const char* call, const char* file = __builtin_FILE(),
                int line = __builtin_LINE());

}  // namespace flashcheck
