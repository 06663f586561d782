#include <cblas.h>

#include <limits>
#include <stdexcept>

#include "reference/gemm.h"

// OpenBLAS alone has it; with another CBLAS it stays null.
extern "C" void openblas_set_num_threads(int num_threads) __attribute__((weak));

namespace flashcheck {
namespace {

int blas_int(int64_t value) {
  if (value > std::numeric_limits<int>::max()) throw std::length_error("too large for CBLAS");
  return static_cast<int>(value);
}

void use_one_thread() {
  if (openblas_set_num_threads) openblas_set_num_threads(1);
}

}  // namespace

void gemm(Transpose transpose_b, int64_t m, int64_t n, int64_t k, const double* a, int64_t lda,
          const double* b, int64_t ldb, double beta, double* c, int64_t ldc) {
  [[maybe_unused]] static const bool is_set = (use_one_thread(), true);
  if (m == 0 || n == 0) return;
  cblas_dgemm(CblasRowMajor, CblasNoTrans,
              transpose_b == Transpose::kYes ? CblasTrans : CblasNoTrans, blas_int(m), blas_int(n),
              blas_int(k), 1.0, a, blas_int(lda), b, blas_int(ldb), beta, c, blas_int(ldc));
}

}  // namespace flashcheck
