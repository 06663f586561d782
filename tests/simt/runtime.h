#pragma once

#include <cuda_runtime_api.h>

#include <optional>
#include <string_view>

namespace simt {

// What every call of the runtime does.

/// The error that the device is set to give this call.
std::optional<cudaError_t> injected_failure(std::string_view call);
/// The error, remembered for cudaGetLastError.
cudaError_t returned(cudaError_t error);

}  // namespace simt
