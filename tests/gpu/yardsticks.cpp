#include "tests/gpu/yardsticks.h"

#include <cublas_v2.h>
#include <cuda_runtime_api.h>

#include <stdexcept>
#include <string>

#include "kernels/cuda/check_cuda.h"
#include "kernels/cuda/device_buffer.h"
#include "tests/gpu/random_fill.h"

namespace flashcheck::bench {
namespace {

void check_cublas(cublasStatus_t status, const char* call) {
  if (status == CUBLAS_STATUS_SUCCESS) return;
  throw std::runtime_error(std::string(call) + " failed: " + cublasGetStatusString(status));
}

class Cublas {
 public:
  Cublas() { check_cublas(cublasCreate(&handle_), "cublasCreate"); }
  Cublas(const Cublas&) = delete;
  Cublas& operator=(const Cublas&) = delete;
  ~Cublas() { cublasDestroy(handle_); }
  cublasHandle_t handle() const { return handle_; }

 private:
  cublasHandle_t handle_ = nullptr;
};

}  // namespace

Yardstick time_matrix_product(double budget_seconds) {
  constexpr int64_t kN = 8192;
  const DeviceBuffer a(2 * kN * kN), b(2 * kN * kN), c(2 * kN * kN);
  fill_with_normals(reinterpret_cast<Half*>(a.begin()), kN * kN, /*seed=*/4);
  fill_with_normals(reinterpret_cast<Half*>(b.begin()), kN * kN, /*seed=*/5);
  const Cublas cublas;
  const LaunchTimes times = time_launches(budget_seconds, [&](int64_t) {
    const float one = 1, zero = 0;
    check_cublas(cublasGemmEx(cublas.handle(), CUBLAS_OP_N, CUBLAS_OP_N, kN, kN, kN, &one,
                              a.begin(), CUDA_R_16F, kN, b.begin(), CUDA_R_16F, kN, &zero,
                              c.begin(), CUDA_R_16F, kN, CUBLAS_COMPUTE_32F, CUBLAS_GEMM_DEFAULT),
                 "cublasGemmEx");
  });
  return {times, 2.0 * kN * kN * kN / times.median};
}

Yardstick time_copy(double budget_seconds) {
  constexpr int64_t kBytes = int64_t{1} << 31;
  const DeviceBuffer from(kBytes), to(kBytes);
  fill_with_normals(reinterpret_cast<Half*>(from.begin()), kBytes / 2, /*seed=*/6);
  const LaunchTimes times = time_launches(budget_seconds, [&](int64_t) {
    check_cuda(cudaMemcpyAsync(to.begin(), from.begin(), kBytes, cudaMemcpyDeviceToDevice),
               "cudaMemcpyAsync");
  });
  return {times, 2.0 * kBytes / times.median};
}

}  // namespace flashcheck::bench
