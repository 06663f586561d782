#include <cblas.h>

#include <limits>
#include <stdexcept>

#include "reference/products.h"
#include "src/spec/tensor.h"

// OpenBLAS alone has it; with another CBLAS it stays null.
extern "C" void openblas_set_num_threads(int num_threads) __attribute__((weak));

namespace flashcheck {
namespace {

int blas_int(int64_t value) {
  if (value > std::numeric_limits<int>::max()) throw std::length_error("too large for CBLAS");
  return static_cast<int>(value);
}

void multiply(const GemmShape& shape, double alpha, const double* a, const double* b, double beta,
              double* c) {
  if (shape.m == 0 || shape.n == 0) return;
  cblas_dgemm(CblasRowMajor, CblasNoTrans,
              shape.transpose_b == Transpose::kYes ? CblasTrans : CblasNoTrans, blas_int(shape.m),
              blas_int(shape.n), blas_int(shape.k), alpha, a, blas_int(shape.lda), b,
              blas_int(shape.ldb), beta, c, blas_int(shape.ldc));
}

class BlasProducts : public Products {
 public:
  BlasProducts() {
    if (openblas_set_num_threads) openblas_set_num_threads(1);
  }

  void gemm(const GemmShape& shape, const double* a, const double* b, double beta,
            double* c) const override {
    multiply(shape, 1, a, b, beta, c);
  }

  void low_precision_gemm(Dtype dtype, const GemmShape& shape, float alpha, const double* a,
                          const double* b, double* c) const override {
    multiply(shape, static_cast<double>(alpha), a, b, 0, c);
    for (int64_t i = 0; i < shape.m; ++i) {
      double* const row = c + i * shape.ldc;
      for (int64_t j = 0; j < shape.n; ++j) row[j] = round_to(dtype, row[j]);
    }
  }
};

}  // namespace

const Products& blas_products() {
  static const BlasProducts products;
  return products;
}

}  // namespace flashcheck
