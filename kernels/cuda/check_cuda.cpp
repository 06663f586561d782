#include "kernels/cuda/check_cuda.h"

#include <stdexcept>
#include <string>
#include <string_view>

namespace flashcheck {

void check_cuda(cudaError_t status, const char* call, std::source_location place) {
  if (status == cudaSuccess) return;
  std::string_view file = place.file_name();
  if (const size_t kernels = file.rfind("kernels/"); kernels != file.npos) {
    file.remove_prefix(kernels);
  }
  throw std::runtime_error(std::string(call) + " at " + std::string(file) + ":" +
                           std::to_string(place.line()) + " failed: " + cudaGetErrorName(status) +
                           ", " + cudaGetErrorString(status));
}

}  // namespace flashcheck
