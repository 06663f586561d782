// cuBLAS as its documentation words it, by columns and by the definition of a product; what it
// would refuse is refused. Operands are read where they are, so that an address sanitizer sees one
// that is too short.

#include "tests/simt/cublas.h"

#include <cublas_v2.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <string_view>
#include <vector>

#include "reference/cublas_library.h"
#include "src/spec/tensor.h"

namespace simt {
namespace {

using flashcheck::Dtype;

struct Context {
  cublasMath_t mode = CUBLAS_DEFAULT_MATH;
};

/// op(M) [rows][columns] of a matrix that is stored by columns, `ld` apart.
struct Operand {
  cublasOperation_t operation;
  int64_t rows, columns, ld;

  /// A matrix is stored as it is or transposed; its columns must not overlap.
  bool is_valid() const {
    const int64_t stored_rows = operation == CUBLAS_OP_N ? rows : columns;
    return ld >= std::max<int64_t>(1, stored_rows);
  }
  int64_t at(int64_t i, int64_t j) const {
    return operation == CUBLAS_OP_N ? i + j * ld : j + i * ld;
  }
};

/// Memory of the emulated device is aligned like this, and other memory hardly ever.
bool is_device_memory(const void* pointer) {
  return pointer != nullptr && reinterpret_cast<uintptr_t>(pointer) % 256 == 0;
}

cublasStatus_t injected(std::string_view call) {
  return cublas().failing_call == call ? static_cast<cublasStatus_t>(cublas().failure)
                                       : CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t status_of(std::string_view call, cublasHandle_t handle, const Operand& a,
                         const Operand& b, const Operand& c,
                         std::initializer_list<const void*> pointers) {
  if (const cublasStatus_t status = injected(call); status != CUBLAS_STATUS_SUCCESS) return status;
  if (handle == nullptr) return CUBLAS_STATUS_NOT_INITIALIZED;
  if (a.rows < 0 || b.columns < 0 || a.columns < 0) return CUBLAS_STATUS_INVALID_VALUE;
  if (!a.is_valid() || !b.is_valid() || !c.is_valid()) return CUBLAS_STATUS_INVALID_VALUE;
  if (!std::all_of(pointers.begin(), pointers.end(), is_device_memory)) {
    return CUBLAS_STATUS_EXECUTION_FAILED;  // as a device does with an address of the host
  }
  return CUBLAS_STATUS_SUCCESS;
}

/// The 16-bit elements of a matrix in device memory, by columns and without gaps.
std::vector<float> load(Dtype dtype, const void* matrix, const Operand& operand) {
  flashcheck::StorageBytes element(2);
  std::vector<float> values;
  values.reserve(static_cast<size_t>(operand.rows * operand.columns));
  for (int64_t j = 0; j < operand.columns; ++j) {
    for (int64_t i = 0; i < operand.rows; ++i) {
      std::memcpy(element.begin(), static_cast<const std::byte*>(matrix) + 2 * operand.at(i, j), 2);
      values.push_back(static_cast<float>(flashcheck::read_element(element, dtype, 0)));
    }
  }
  return values;
}

std::vector<double> load(const double* matrix, const Operand& operand) {
  std::vector<double> values;
  values.reserve(static_cast<size_t>(operand.rows * operand.columns));
  for (int64_t j = 0; j < operand.columns; ++j) {
    for (int64_t i = 0; i < operand.rows; ++i) values.push_back(matrix[operand.at(i, j)]);
  }
  return values;
}

/// a b, by columns; every sum in ascending order of its terms.
template <typename T>
std::vector<T> product(const std::vector<T>& a, const std::vector<T>& b, int64_t m, int64_t n,
                       int64_t k) {
  std::vector<T> sums(static_cast<size_t>(m * n));
  for (int64_t j = 0; j < n; ++j) {
    T* const to = sums.data() + j * m;
    for (int64_t p = 0; p < k; ++p) {
      const T factor = b[static_cast<size_t>(p + j * k)];
      const T* const column = a.data() + p * m;
      for (int64_t i = 0; i < m; ++i) to[i] += column[i] * factor;
    }
  }
  return sums;
}

void store(Dtype dtype, void* matrix, int64_t at, double value) {
  flashcheck::StorageBytes element(2);
  flashcheck::write_element(element, dtype, 0, value);
  std::memcpy(static_cast<std::byte*>(matrix) + 2 * at, element.begin(), 2);
}

}  // namespace

Cublas& cublas() {
  static Cublas the_library;
  return the_library;
}

}  // namespace simt

using simt::cublas;
using simt::Operand;

cublasStatus_t cublasCreate_v2(cublasHandle_t* handle) {
  if (const cublasStatus_t status = simt::injected("cublasCreate");
      status != CUBLAS_STATUS_SUCCESS) {
    return status;
  }
  static simt::Context context;
  *handle = reinterpret_cast<cublasHandle_t>(&context);
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasSetMathMode(cublasHandle_t handle, cublasMath_t mode) {
  reinterpret_cast<simt::Context*>(handle)->mode = mode;
  return simt::injected("cublasSetMathMode");
}

cublasStatus_t cublasDgemm_v2(cublasHandle_t handle, cublasOperation_t transa,
                              cublasOperation_t transb, int m, int n, int k, const double* alpha,
                              const double* A, int lda, const double* B, int ldb,
                              const double* beta, double* C, int ldc) {
  const Operand a{transa, m, k, lda}, b{transb, k, n, ldb}, c{CUBLAS_OP_N, m, n, ldc};
  const cublasStatus_t status = status_of("cublasDgemm", handle, a, b, c, {A, B, C});
  if (status != CUBLAS_STATUS_SUCCESS) return status;
  // Emulated double precision would not be the truth.
  if (reinterpret_cast<simt::Context*>(handle)->mode != CUBLAS_PEDANTIC_MATH) {
    return CUBLAS_STATUS_NOT_SUPPORTED;
  }
  ++cublas().num_double_products;
  const std::vector<double> sums = simt::product(simt::load(A, a), simt::load(B, b), m, n, k);
  for (int64_t j = 0; j < n; ++j) {
    for (int64_t i = 0; i < m; ++i) {
      double& element = C[c.at(i, j)];
      element = *alpha * sums[static_cast<size_t>(i + j * m)] + (*beta == 0 ? 0 : *beta * element);
    }
  }
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasGemmEx(cublasHandle_t handle, cublasOperation_t transa,
                            cublasOperation_t transb, int m, int n, int k, const void* alpha,
                            const void* A, cudaDataType Atype, int lda, const void* B,
                            cudaDataType Btype, int ldb, const void* beta, void* C,
                            cudaDataType Ctype, int ldc, cublasComputeType_t computeType,
                            cublasGemmAlgo_t algo) {
  const Operand a{transa, m, k, lda}, b{transb, k, n, ldb}, c{CUBLAS_OP_N, m, n, ldc};
  const cublasStatus_t status = status_of("cublasGemmEx", handle, a, b, c, {A, B, C});
  if (status != CUBLAS_STATUS_SUCCESS) return status;
  const bool is_16_bits = Atype == CUDA_R_16F || Atype == CUDA_R_16BF;
  if (!is_16_bits || Atype != Btype || Atype != Ctype || computeType != CUBLAS_COMPUTE_32F ||
      algo != CUBLAS_GEMM_DEFAULT || *static_cast<const float*>(beta) != 0) {
    return CUBLAS_STATUS_NOT_SUPPORTED;
  }
  ++cublas().num_low_precision_products;
  const simt::Dtype dtype = Atype == CUDA_R_16F ? simt::Dtype::kF16 : simt::Dtype::kBF16;
  const std::vector<float> sums =
      simt::product(simt::load(dtype, A, a), simt::load(dtype, B, b), m, n, k);
  for (int64_t j = 0; j < n; ++j) {
    for (int64_t i = 0; i < m; ++i) {
      const float sum = sums[static_cast<size_t>(i + j * m)];
      simt::store(dtype, C, c.at(i, j), *static_cast<const float*>(alpha) * sum);
    }
  }
  return CUBLAS_STATUS_SUCCESS;
}

const char* cublasGetStatusString(cublasStatus_t status) {
  switch (status) {
    case CUBLAS_STATUS_SUCCESS:
      return "the operation completed successfully";
    case CUBLAS_STATUS_NOT_INITIALIZED:
      return "the library was not initialized";
    case CUBLAS_STATUS_ALLOC_FAILED:
      return "the resource allocation failed";
    case CUBLAS_STATUS_INVALID_VALUE:
      return "an unsupported value or parameter was passed to the function";
    case CUBLAS_STATUS_EXECUTION_FAILED:
      return "the function failed to launch on the GPU";
    case CUBLAS_STATUS_NOT_SUPPORTED:
      return "the requested functionality is not supported";
  }
  return "unknown";
}

namespace flashcheck {

/// In place of the one that loads a file.
const CublasLibrary& cublas_library() {
  static const CublasLibrary there{.create = cublasCreate_v2,
                                   .set_math_mode = cublasSetMathMode,
                                   .dgemm = cublasDgemm_v2,
                                   .gemm_ex = cublasGemmEx,
                                   .status_string = cublasGetStatusString};
  static CublasLibrary missing;
  if (simt::cublas().missing.empty()) return there;
  missing.error = simt::cublas().missing;
  return missing;
}

}  // namespace flashcheck
