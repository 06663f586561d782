#include "reference/gemm_cublas.h"

#include <cublas_v2.h>
#include <cuda_runtime_api.h>

#include <algorithm>
#include <limits>
#include <map>
#include <mutex>
#include <new>
#include <stdexcept>
#include <utility>
#include <vector>

#include "reference/cublas_library.h"
#include "src/spec/tensor.h"

namespace flashcheck {
namespace {

[[noreturn]] void fail(const char* call, int line, const char* text) {
  throw std::runtime_error(std::string(call) +
                           " (reference/gemm_cublas.cpp:" + std::to_string(line) + "): " + text);
}

void check(cudaError_t error, const char* call, int line = __builtin_LINE()) {
  if (error == cudaSuccess) return;
  cudaGetLastError();  // not the next call's error
  if (error == cudaErrorMemoryAllocation) throw std::bad_alloc();
  fail(call, line, cudaGetErrorString(error));
}

void check(cublasStatus_t status, const char* call, int line = __builtin_LINE()) {
  if (status == CUBLAS_STATUS_SUCCESS) return;
  if (status == CUBLAS_STATUS_ALLOC_FAILED) throw std::bad_alloc();
  fail(call, line, cublas_library().status_string(status));
}

int cublas_int(int64_t value) {
  if (value > std::numeric_limits<int>::max()) throw std::length_error("too large for cuBLAS");
  return static_cast<int>(value);
}

/// The rows of a matrix side by side, without the gaps between them, as a device gets them.
std::vector<double> packed(const double* rows, int64_t num_rows, int64_t num_columns, int64_t ld) {
  std::vector<double> all;
  all.reserve(static_cast<size_t>(num_rows * num_columns));
  for (int64_t i = 0; i < num_rows; ++i) {
    all.insert(all.end(), rows + i * ld, rows + i * ld + num_columns);
  }
  return all;
}

StorageBytes encoded(Dtype dtype, const std::vector<double>& values) {
  StorageBytes bytes(static_cast<int64_t>(values.size()) * size_in_bytes(dtype));
  for (size_t i = 0; i < values.size(); ++i) {
    write_element(bytes, dtype, static_cast<int64_t>(i), values[i]);
  }
  return bytes;
}

/// Memory of the current device, kept from one product to the next, and larger where one needs it.
class DeviceMemory {
 public:
  ~DeviceMemory() { cudaFree(begin_); }

  void* of_size(size_t bytes) {
    if (bytes > size_) {
      size_ = 0;
      check(cudaFree(std::exchange(begin_, nullptr)), "cudaFree");
      check(cudaMalloc(&begin_, bytes), "cudaMalloc");
      size_ = bytes;
    }
    return begin_;
  }

  double* copy_of(const std::vector<double>& values) {
    return static_cast<double*>(copy_of(values.data(), values.size() * sizeof(double)));
  }
  void* copy_of(const StorageBytes& bytes) {
    return copy_of(bytes.begin(), static_cast<size_t>(bytes.size_bytes()));
  }

 private:
  void* copy_of(const void* host, size_t bytes) {
    void* const device = of_size(bytes);
    check(cudaMemcpy(device, host, bytes, cudaMemcpyHostToDevice), "cudaMemcpy");
    return device;
  }

  void* begin_ = nullptr;
  size_t size_ = 0;
};

/// What cuBLAS is to see as its m, n and k. It takes matrices by columns, and by columns a
/// row-major matrix is its transpose: c^T = b^T a^T, so that b comes first.
struct ByColumns {
  cublasOperation_t transpose_b;
  int m, n, k, ldb, lda, ldc;

  explicit ByColumns(const GemmShape& shape)
      : transpose_b(shape.transpose_b == Transpose::kYes ? CUBLAS_OP_T : CUBLAS_OP_N),
        m(cublas_int(shape.n)),
        n(cublas_int(shape.m)),
        k(cublas_int(shape.k)),
        ldb(shape.transpose_b == Transpose::kYes ? k : m),  // packed
        lda(k),
        ldc(m) {}
};

std::vector<double> packed_a(const GemmShape& shape, const double* a) {
  return packed(a, shape.m, shape.k, shape.lda);
}

std::vector<double> packed_b(const GemmShape& shape, const double* b) {
  const bool is_transposed = shape.transpose_b == Transpose::kYes;
  return is_transposed ? packed(b, shape.n, shape.k, shape.ldb)
                       : packed(b, shape.k, shape.n, shape.ldb);
}

/// Writes packed rows where c has them.
void unpack(const GemmShape& shape, const std::vector<double>& values, double* c) {
  for (int64_t i = 0; i < shape.m; ++i) {
    std::copy_n(values.data() + i * shape.n, shape.n, c + i * shape.ldc);
  }
}

class CublasProducts : public Products {
 public:
  explicit CublasProducts(int device) : device_(device) {
    check(cudaSetDevice(device_), "cudaSetDevice");
    check(cublas_.create(&handle_), "cublasCreate");
    // The truth is made of products as IEEE 754 has them, and not of emulated ones.
    check(cublas_.set_math_mode(handle_, CUBLAS_PEDANTIC_MATH), "cublasSetMathMode");
  }

  void gemm(const GemmShape& shape, const double* a, const double* b, double beta,
            double* c) const override {
    if (shape.m == 0 || shape.n == 0) return;
    const ByColumns is(shape);
    const double alpha = 1;
    const std::lock_guard lock(one_at_a_time_);
    check(cudaSetDevice(device_), "cudaSetDevice");
    const double* const device_b = b_.copy_of(packed_b(shape, b));
    const double* const device_a = a_.copy_of(packed_a(shape, a));
    std::vector<double> result = packed(c, shape.m, shape.n, shape.ldc);
    double* const device_c = c_.copy_of(result);
    check(cublas_.dgemm(handle_, is.transpose_b, CUBLAS_OP_N, is.m, is.n, is.k, &alpha, device_b,
                        is.ldb, device_a, is.lda, &beta, device_c, is.ldc),
          "cublasDgemm");
    check(
        cudaMemcpy(result.data(), device_c, result.size() * sizeof(double), cudaMemcpyDeviceToHost),
        "cudaMemcpy");
    unpack(shape, result, c);
  }

  void low_precision_gemm(Dtype dtype, const GemmShape& shape, float alpha, const double* a,
                          const double* b, double* c) const override {
    if (shape.m == 0 || shape.n == 0) return;
    const ByColumns is(shape);
    const float beta = 0;
    const cudaDataType type = dtype == Dtype::kF16 ? CUDA_R_16F : CUDA_R_16BF;
    StorageBytes result(shape.m * shape.n * size_in_bytes(dtype));
    const std::lock_guard lock(one_at_a_time_);
    check(cudaSetDevice(device_), "cudaSetDevice");
    const void* const device_b = b_.copy_of(encoded(dtype, packed_b(shape, b)));
    const void* const device_a = a_.copy_of(encoded(dtype, packed_a(shape, a)));
    void* const device_c = c_.of_size(static_cast<size_t>(result.size_bytes()));
    check(cublas_.gemm_ex(handle_, is.transpose_b, CUBLAS_OP_N, is.m, is.n, is.k, &alpha, device_b,
                          type, is.ldb, device_a, type, is.lda, &beta, device_c, type, is.ldc,
                          CUBLAS_COMPUTE_32F, CUBLAS_GEMM_DEFAULT),
          "cublasGemmEx");
    check(cudaMemcpy(result.begin(), device_c, static_cast<size_t>(result.size_bytes()),
                     cudaMemcpyDeviceToHost),
          "cudaMemcpy");
    std::vector<double> values(static_cast<size_t>(shape.m * shape.n));
    for (size_t i = 0; i < values.size(); ++i) {
      values[i] = read_element(result, dtype, static_cast<int64_t>(i));
    }
    unpack(shape, values, c);
  }

 private:
  const CublasLibrary& cublas_ = cublas_library();
  int device_;
  cublasHandle_t handle_ = nullptr;
  // A handle and its memory serve one product at a time.
  mutable std::mutex one_at_a_time_;
  mutable DeviceMemory a_, b_, c_;
};

}  // namespace

std::string cublas_unavailable(int device) {
  if (!cublas_library().error.empty()) return cublas_library().error;
  try {
    cublas_products(device);
    return "";
  } catch (const std::runtime_error& error) {
    return std::string("the reference's cuBLAS: ") + error.what();
  } catch (const std::bad_alloc&) {
    return "the reference's cuBLAS: the device has no memory left";
  }
}

const Products& cublas_products(int device) {
  static std::mutex mutex;
  // Never destroyed: when the program ends, CUDA may be gone before it.
  static auto& of_devices = *new std::map<int, CublasProducts>();
  const std::lock_guard lock(mutex);
  return of_devices.try_emplace(device, device).first->second;
}

}  // namespace flashcheck
