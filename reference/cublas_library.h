#pragma once

#include <cublas_v2.h>

#include <string>

namespace flashcheck {

/// The functions of cuBLAS that the reference calls.
struct CublasLibrary {
  /// The overload of C, which alone the library exports.
  using GemmEx = cublasStatus_t (*)(cublasHandle_t, cublasOperation_t, cublasOperation_t, int, int,
                                    int, const void*, const void*, cudaDataType, int, const void*,
                                    cudaDataType, int, const void*, void*, cudaDataType, int,
                                    cublasComputeType_t, cublasGemmAlgo_t);

  std::string error;  // why there is no cuBLAS; then all below are null
  decltype(&cublasCreate_v2) create = nullptr;
  decltype(&cublasSetMathMode) set_math_mode = nullptr;
  decltype(&cublasDgemm_v2) dgemm = nullptr;
  decltype(static_cast<GemmEx>(&cublasGemmEx)) gemm_ex = nullptr;
  decltype(&cublasGetStatusString) status_string = nullptr;
};

/// Loaded when first asked for, so that a program runs where there is none: the release that the
/// program was built with, from the program's RUNPATH or where the system keeps libraries.
const CublasLibrary& cublas_library();

}  // namespace flashcheck
