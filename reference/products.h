#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "src/spec/dtype.h"

namespace flashcheck {

enum class Transpose : uint8_t { kNo, kYes };

/// A row-major product c = a b: a is [m][k], c is [m][n], b is [k][n], or [n][k] if it is to be
/// transposed. Leading dimensions are in elements.
struct GemmShape {
  Transpose transpose_b = Transpose::kNo;
  int64_t m = 0, n = 0, k = 0;
  int64_t lda = 0, ldb = 0, ldc = 0;
};

/// The matrix products that the reference is made of, of one library on one device. Several threads
/// may use it at once; the bytes do not depend on how many. Both throw std::length_error if a
/// dimension does not fit the library's int, std::runtime_error if a device call fails,
/// std::bad_alloc if memory is short.
class Products {
 public:
  virtual ~Products() = default;

  /// c = a b + beta c, in double. With beta 0 what c held does not matter.
  virtual void gemm(const GemmShape& shape, const double* a, const double* b, double beta,
                    double* c) const = 0;

  /// c = alpha a b as a naive run in `dtype` has it: a and b hold numbers of that dtype (f16 or
  /// bf16), and so does c then; sums are kept in f32 or better.
  virtual void low_precision_gemm(Dtype dtype, const GemmShape& shape, float alpha, const double* a,
                                  const double* b, double* c) const = 0;
};

/// BLAS on the CPU, on the calling thread alone.
const Products& blas_products();

/// Why there are no products on this device ("cpu", or "cuda" and which); empty if there are.
std::string products_unavailable(std::string_view kind, int device);
/// Lives as long as the program. Precondition: products_unavailable() is empty.
const Products& products_of(std::string_view kind, int device);

}  // namespace flashcheck
