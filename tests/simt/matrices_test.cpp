// ldmatrix and mma: the fragments of the PTX ISA, held against plain loops over whole matrices.

#include <cuda_runtime.h>
#include <doctest/doctest.h>

#include <array>
#include <cstdint>
#include <cstring>

#include "kernels/cuda/ptx.h"
#include "kernels/half.h"
#include "tests/simt/run_kernel.h"

namespace {

using flashcheck::BFloat16;
using flashcheck::from_float;
using flashcheck::Half;
namespace ptx = flashcheck::ptx;

constexpr unsigned kM = 16, kN = 8, kK = 16;

template <typename T>
struct Product {
  T a[kM][kK];
  T b_rows[kK][kN];     // B as it is: its fragments come by way of a transposed load
  T b_columns[kN][kK];  // B transposed: by a plain one
  float c[kM][kN];
};

/// C += A B by one warp, with A, and B in one of its two layouts, read from shared memory.
template <typename T>
__global__ void multiply(Product<T>* product, bool transposed) {
  auto* a = reinterpret_cast<T(*)[kK]>(ptx::dynamic_shared_memory());
  auto* b = reinterpret_cast<T*>(a + kM);
  const unsigned lane = threadIdx.x, g = lane / 4, t = lane % 4;
  if (lane == 0) {
    std::memcpy(a, product->a, sizeof(product->a));
    if (transposed) {
      std::memcpy(b, product->b_rows, sizeof(product->b_rows));
    } else {
      std::memcpy(b, product->b_columns, sizeof(product->b_columns));
    }
  }
  __syncwarp();
  uint32_t a_fragment[4], b_fragment[4];
  // Matrices: rows 0-7 and 8-15 of columns 0-7, then of columns 8-15.
  ptx::ldmatrix_x4(a_fragment, &a[lane % 16][lane / 16 * 8]);
  if (transposed) {
    ptx::ldmatrix_x4_trans(b_fragment, b + lane % 16 * kN);
  } else {
    ptx::ldmatrix_x4(b_fragment, b + lane % 8 * kK + lane / 8 % 2 * 8);
  }
  float c[4];
  std::memcpy(c, &product->c[g][2 * t], 2 * sizeof(float));
  std::memcpy(c + 2, &product->c[g + 8][2 * t], 2 * sizeof(float));
  ptx::mma_m16n8k16<T>(c, a_fragment, b_fragment[0], b_fragment[1]);
  std::memcpy(&product->c[g][2 * t], c, 2 * sizeof(float));
  std::memcpy(&product->c[g + 8][2 * t], c + 2, 2 * sizeof(float));
}

/// All elements of a factor differ, and all sums are exact.
template <typename T>
Product<T> distinct_product() {
  Product<T> product;
  for (unsigned k = 0; k < kK; ++k) {
    for (unsigned m = 0; m < kM; ++m) {
      product.a[m][k] = from_float<T>(static_cast<float>(m * kK + k) - 120.0f);
    }
    for (unsigned n = 0; n < kN; ++n) {
      product.b_rows[k][n] = product.b_columns[n][k] =
          from_float<T>(60.0f - static_cast<float>(n * kK + k));
    }
  }
  for (unsigned m = 0; m < kM; ++m) {
    for (unsigned n = 0; n < kN; ++n) product.c[m][n] = static_cast<float>(1000 * m + n);
  }
  return product;
}

template <typename T>
void check_product(bool transposed) {
  Product<T> product = distinct_product<T>();
  const Product<T> before = product;
  simt::run_kernel(1, 32, sizeof(before.a) + sizeof(before.b_rows), &multiply<T>, &product,
                   transposed);
  for (unsigned m = 0; m < kM; ++m) {
    for (unsigned n = 0; n < kN; ++n) {
      float expected = before.c[m][n];
      for (unsigned k = 0; k < kK; ++k) {
        expected += to_float(before.a[m][k]) * to_float(before.b_rows[k][n]);
      }
      CHECK(product.c[m][n] == expected);
    }
  }
}

}  // namespace

TEST_CASE("A warp multiplies two matrices that ldmatrix has spread over it") {
  SUBCASE("Half, B by columns") { check_product<Half>(false); }
  SUBCASE("Half, B by rows") { check_product<Half>(true); }
  SUBCASE("BFloat16, B by columns") { check_product<BFloat16>(false); }
  SUBCASE("BFloat16, B by rows") { check_product<BFloat16>(true); }
}
