// The reference over cuBLAS, with the runtime and cuBLAS emulated: what is asked of cuBLAS, and
// what becomes of the answers. That cuBLAS itself multiplies rightly only a device can show.

#include "reference/gemm_cublas.h"

#include <cublas_v2.h>
#include <cuda_runtime_api.h>
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <new>
#include <random>
#include <stdexcept>
#include <string>
#include <vector>

#include "src/check_case.h"
#include "src/spec/tensor.h"
#include "tests/cases/shipped.h"
#include "tests/simt/cublas.h"
#include "tests/simt/device.h"

namespace flashcheck {
namespace {

constexpr double kGap = -7680;  // stands between rows, where no product belongs

/// Rows of integers in [-limit, limit], so small that no sum of products is rounded.
std::vector<double> matrix(std::mt19937& rng, int64_t rows, int64_t columns, int64_t ld,
                           int limit = 4) {
  std::vector<double> values(static_cast<size_t>(rows * ld), kGap);
  for (int64_t i = 0; i < rows; ++i) {
    for (int64_t j = 0; j < columns; ++j) {
      values[static_cast<size_t>(i * ld + j)] = static_cast<double>(
          static_cast<int>(rng() % static_cast<unsigned>(2 * limit + 1)) - limit);
    }
  }
  return values;
}

GemmShape random_shape(std::mt19937& rng, Transpose transpose_b) {
  const auto up_to = [&](unsigned n) { return static_cast<int64_t>(rng() % n); };
  GemmShape shape{
      .transpose_b = transpose_b, .m = 1 + up_to(9), .n = 1 + up_to(9), .k = 1 + up_to(9)};
  shape.lda = shape.k + up_to(4);
  shape.ldb = (transpose_b == Transpose::kYes ? shape.k : shape.n) + up_to(4);
  shape.ldc = shape.n + up_to(4);
  return shape;
}

struct Operands {
  std::vector<double> a, b, c;
  Operands(std::mt19937& rng, const GemmShape& shape) {
    const bool is_transposed = shape.transpose_b == Transpose::kYes;
    a = matrix(rng, shape.m, shape.k, shape.lda);
    b = is_transposed ? matrix(rng, shape.n, shape.k, shape.ldb)
                      : matrix(rng, shape.k, shape.n, shape.ldb);
    c = matrix(rng, shape.m, shape.n, shape.ldc);
  }
};

/// The device as it is when a program starts, again after each test.
struct Emulated {
  Emulated() { reset(); }
  ~Emulated() { reset(); }
  static void reset() {
    simt::device() = {};
    simt::cublas() = {};
  }
};

/// What gemm() throws while the call of this name fails.
std::string message_of_failing(std::string_view cuda_call, std::string_view cublas_call,
                               bool low_precision = false) {
  const Products& products = cublas_products(0);
  simt::device().failing_call = cuda_call;
  simt::cublas().failing_call = cublas_call;
  const GemmShape shape{.m = 1, .n = 1, .k = 1, .lda = 1, .ldb = 1, .ldc = 1};
  const double one = 1;
  double c = 0;
  try {
    if (low_precision) {
      products.low_precision_gemm(Dtype::kF16, shape, 1, &one, &one, &c);
    } else {
      products.gemm(shape, &one, &one, 0, &c);
    }
  } catch (const std::runtime_error& error) {
    simt::device().failing_call.clear();
    simt::cublas().failing_call.clear();
    return error.what();
  }
  return "";
}

/// The line number of an error's text replaced, for it moves with every edit.
std::string without_line(const std::string& text) {
  const size_t begin = text.find(".cpp:");
  REQUIRE(begin != std::string::npos);
  const size_t end = text.find_first_not_of("0123456789", begin + 5);
  REQUIRE(end > begin + 5);
  return text.substr(0, begin + 5) + "N" + text.substr(end);
}

}  // namespace

TEST_CASE("products of cuBLAS are those of BLAS, whatever the gaps between rows") {
  const Emulated emulated;
  std::mt19937 rng(1);
  const Products& products = cublas_products(0);
  for (int n = 0; n < 400; ++n) {
    const GemmShape shape = random_shape(rng, n % 2 == 0 ? Transpose::kNo : Transpose::kYes);
    const double beta = n % 3;
    CAPTURE(n);
    const Operands operands(rng, shape);
    std::vector<double> expected = operands.c, actual = operands.c;
    blas_products().gemm(shape, operands.a.data(), operands.b.data(), beta, expected.data());
    products.gemm(shape, operands.a.data(), operands.b.data(), beta, actual.data());
    CHECK(actual == expected);  // gaps included
  }
  CHECK(simt::cublas().num_double_products == 400);
}

TEST_CASE("low-precision products hold numbers of their dtype") {
  const Emulated emulated;
  std::mt19937 rng(2);
  const Products& products = cublas_products(0);
  for (int n = 0; n < 400; ++n) {
    const Dtype dtype = n % 4 < 2 ? Dtype::kF16 : Dtype::kBF16;
    const GemmShape shape = random_shape(rng, n % 2 == 0 ? Transpose::kNo : Transpose::kYes);
    const float alpha = n % 3 == 0 ? 1.0f : 0.3f;
    CAPTURE(n);
    const Operands operands(rng, shape);
    std::vector<double> expected = operands.c, actual = operands.c;
    blas_products().low_precision_gemm(dtype, shape, alpha, operands.a.data(), operands.b.data(),
                                       expected.data());
    products.low_precision_gemm(dtype, shape, alpha, operands.a.data(), operands.b.data(),
                                actual.data());
    for (size_t i = 0; i < actual.size(); ++i) {
      // The product with alpha is rounded to f32 here and not there.
      const double ulp = 2 * unit_roundoff(dtype) * std::fabs(expected[i]);
      CHECK(std::fabs(actual[i] - expected[i]) <= (alpha == 1.0f ? 0 : ulp));
      CHECK(round_to(dtype, actual[i]) == actual[i]);
    }
  }
  CHECK(simt::cublas().num_low_precision_products == 400);
}

TEST_CASE("with beta 0 what c held does not matter, and nothing is asked for no elements") {
  const Emulated emulated;
  const GemmShape shape{.m = 1, .n = 1, .k = 1, .lda = 1, .ldb = 1, .ldc = 1};
  const double three = 3;
  double c = std::numeric_limits<double>::quiet_NaN();
  cublas_products(0).gemm(shape, &three, &three, 0, &c);
  CHECK(c == 9);
  cublas_products(0).gemm({.n = 1, .k = 1}, nullptr, nullptr, 0, nullptr);
  cublas_products(0).low_precision_gemm(Dtype::kF16, {.m = 1, .k = 1}, 1, nullptr, nullptr,
                                        nullptr);
  CHECK(simt::cublas().num_double_products == 1);
  CHECK(simt::cublas().num_low_precision_products == 0);
}

TEST_CASE("every call is checked, and an error names call, file, line and text") {
  const Emulated emulated;
  const std::string place = " (reference/gemm_cublas.cpp:N): ";
  CHECK(without_line(message_of_failing("cudaSetDevice", "")) ==
        "cudaSetDevice" + place + "unknown error");
  CHECK(without_line(message_of_failing("cudaMemcpy", "")) ==
        "cudaMemcpy" + place + "unknown error");
  CHECK(without_line(message_of_failing("cudaMemcpy", "", true)) ==
        "cudaMemcpy" + place + "unknown error");
  CHECK(without_line(message_of_failing("", "cublasDgemm")) ==
        "cublasDgemm" + place + "the function failed to launch on the GPU");
  CHECK(without_line(message_of_failing("", "cublasGemmEx", true)) ==
        "cublasGemmEx" + place + "the function failed to launch on the GPU");
  CHECK(message_of_failing("", "") == "");  // and all is well again
  CHECK(cudaGetLastError() == cudaSuccess);
}

TEST_CASE("memory that a device does not have is told apart from a fault") {
  const Emulated emulated;
  const Products& products = cublas_products(0);
  simt::device().memory_bytes = 1 << 20;
  const GemmShape shape{.m = 1000, .n = 1000, .k = 1, .lda = 1, .ldb = 1000, .ldc = 1000};
  const std::vector<double> a(1000), b(1000);
  std::vector<double> c(1'000'000);
  CHECK_THROWS_AS(products.gemm(shape, a.data(), b.data(), 0, c.data()), std::bad_alloc);
  CHECK(cudaGetLastError() == cudaSuccess);
  simt::device().memory_bytes = 1 << 30;
  products.gemm(shape, a.data(), b.data(), 0, c.data());
  simt::cublas() = {.failing_call = "cublasDgemm", .failure = CUBLAS_STATUS_ALLOC_FAILED};
  CHECK_THROWS_AS(products.gemm(shape, a.data(), b.data(), 0, c.data()), std::bad_alloc);
}

TEST_CASE("a dimension that does not fit cuBLAS's int is refused") {
  const Emulated emulated;
  const GemmShape shape{.m = 1, .n = int64_t{1} << 31, .k = 1, .lda = 1, .ldb = 1, .ldc = 1};
  CHECK_THROWS_AS(cublas_products(0).gemm(shape, nullptr, nullptr, 0, nullptr), std::length_error);
}

TEST_CASE("a library that is missing, or does not begin, is told with the reason") {
  const Emulated emulated;
  simt::device().count = 4;
  CHECK(cublas_unavailable(0) == "");
  CHECK(cublas_unavailable(1) == "");
  CHECK(without_line(cublas_unavailable(4)) ==
        "the reference's cuBLAS: cudaSetDevice (reference/gemm_cublas.cpp:N): invalid device "
        "ordinal");
  simt::cublas().failing_call = "cublasCreate";
  CHECK(
      without_line(cublas_unavailable(2)) ==
      "the reference's cuBLAS: cublasCreate (reference/gemm_cublas.cpp:N): the function failed to "
      "launch on the GPU");
  simt::cublas().failure = CUBLAS_STATUS_ALLOC_FAILED;
  CHECK(cublas_unavailable(2) == "the reference's cuBLAS: the device has no memory left");
  simt::cublas().failing_call = "cublasSetMathMode";
  simt::cublas().failure = CUBLAS_STATUS_NOT_SUPPORTED;
  CHECK(without_line(cublas_unavailable(2)) ==
        "the reference's cuBLAS: cublasSetMathMode (reference/gemm_cublas.cpp:N): the requested "
        "functionality is not supported");
  simt::cublas() = {.missing = "no such file"};
  CHECK(cublas_unavailable(3) == "no such file");
  simt::cublas() = {};
  CHECK(cublas_unavailable(2) == "");
  CHECK(&cublas_products(2) != &cublas_products(1));
  CHECK(&cublas_products(2) == &cublas_products(2));
}

TEST_CASE("the emulated cuBLAS refuses what cuBLAS refuses") {
  const Emulated emulated;
  cublasHandle_t handle = nullptr;
  REQUIRE(cublasCreate_v2(&handle) == CUBLAS_STATUS_SUCCESS);
  REQUIRE(cublasSetMathMode(handle, CUBLAS_PEDANTIC_MATH) == CUBLAS_STATUS_SUCCESS);
  double* memory = nullptr;
  REQUIRE(cudaMalloc(&memory, 64 * sizeof(double)) == cudaSuccess);
  const double one = 1, zero = 0;
  const auto dgemm = [&](cublasOperation_t op_a, int lda, int ldb, int ldc, const double* a) {
    return cublasDgemm_v2(handle, op_a, CUBLAS_OP_N, 2, 3, 4, &one, a, lda, memory, ldb, &zero,
                          memory + 32, ldc);
  };
  // a is [2][4] by columns, transposed [4][2]; b is [4][3] and c [2][3].
  CHECK(dgemm(CUBLAS_OP_N, 2, 4, 2, memory) == CUBLAS_STATUS_SUCCESS);
  CHECK(dgemm(CUBLAS_OP_N, 1, 4, 2, memory) == CUBLAS_STATUS_INVALID_VALUE);
  CHECK(dgemm(CUBLAS_OP_T, 4, 4, 2, memory) == CUBLAS_STATUS_SUCCESS);
  CHECK(dgemm(CUBLAS_OP_T, 2, 4, 2, memory) == CUBLAS_STATUS_INVALID_VALUE);
  CHECK(dgemm(CUBLAS_OP_N, 2, 3, 2, memory) == CUBLAS_STATUS_INVALID_VALUE);
  CHECK(dgemm(CUBLAS_OP_N, 2, 4, 1, memory) == CUBLAS_STATUS_INVALID_VALUE);
  CHECK(dgemm(CUBLAS_OP_N, 2, 4, 2, memory + 1) == CUBLAS_STATUS_EXECUTION_FAILED);
  REQUIRE(cublasSetMathMode(handle, CUBLAS_DEFAULT_MATH) == CUBLAS_STATUS_SUCCESS);
  CHECK(dgemm(CUBLAS_OP_N, 2, 4, 2, memory) == CUBLAS_STATUS_NOT_SUPPORTED);
  REQUIRE(cublasSetMathMode(handle, CUBLAS_PEDANTIC_MATH) == CUBLAS_STATUS_SUCCESS);
  cudaFree(memory);
}

TEST_CASE("every numeric case is as it should be with the reference over cuBLAS") {
  const Emulated emulated;
  constexpr int64_t kWork = 3'000'000;  // beyond, the references sample rows
  int ran = 0;
  for (const Case& c : shipped_cases()) {
    if (!stem_of(c).starts_with("numeric-")) continue;
    CAPTURE(c.id);
    const CaseReport cublas =
        check_case(c, {.products = &cublas_products(0), .max_reference_work = kWork});
    CHECK(cublas.verdict == c.expect->verdict);
    CHECK(cublas.status == Status::kPass);
    ran += cublas.ran;
    if (!is_control(c)) continue;
    // Both references are double, and differ in the order of their sums.
    const CaseReport blas = check_case(c, {.max_reference_work = kWork});
    REQUIRE(blas.ran);
    REQUIRE(cublas.ran);
    CHECK(cublas.comparison->max_ratio ==
          doctest::Approx(blas.comparison->max_ratio).epsilon(1e-4));
    REQUIRE(cublas.comparison->fa2_ratio.has_value() == blas.comparison->fa2_ratio.has_value());
    // The naive runs differ by roundings of sums, which an error of roundings feels.
    if (!blas.comparison->fa2_ratio) continue;
    CHECK(*cublas.comparison->fa2_ratio ==
          doctest::Approx(*blas.comparison->fa2_ratio).epsilon(0.5));
  }
  CHECK(ran >= 200);
  CHECK(simt::cublas().num_double_products > ran);
  CHECK(simt::cublas().num_low_precision_products >= ran);
}

}  // namespace flashcheck
