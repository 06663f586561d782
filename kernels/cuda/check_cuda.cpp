#include "kernels/cuda/check_cuda.h"

#include <stdexcept>
#include <string>
#include <string_view>

namespace flashcheck {

void check_cuda(cudaError_t status, const char* call, const char* file, int line) {
  if (status == cudaSuccess) return;
  std::string_view path = file;
  if (const size_t kernels = path.rfind("kernels/"); kernels != path.npos) {
    path.remove_prefix(kernels);
  }
  throw std::runtime_error(std::string(call) + " at " + std::string(path) + ":" +
                           std::to_string(line) + " failed: " + cudaGetErrorName(status) + ", " +
                           cudaGetErrorString(status));
}

}  // namespace flashcheck
