#pragma once

#include <cstdint>

namespace flashcheck {

enum class Transpose : uint8_t { kNo, kYes };

/// c = a b + beta c, row-major, in double: a is [m][k], c is [m][n], b is [k][n], or [n][k] if it
/// is to be transposed. Leading dimensions are in elements. One thread does all of it, so that the
/// bytes do not depend on how many there are; several threads may call it at once. Throws
/// std::length_error if a dimension does not fit CBLAS's int.
void gemm(Transpose transpose_b, int64_t m, int64_t n, int64_t k, const double* a, int64_t lda,
          const double* b, int64_t ldb, double beta, double* c, int64_t ldc);

}  // namespace flashcheck
