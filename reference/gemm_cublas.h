#pragma once

#include <string>

#include "reference/products.h"

namespace flashcheck {

/// Why cuBLAS cannot multiply on this device; empty if it can. Loads it, if it is not yet loaded.
std::string cublas_unavailable(int device);

/// The products of cuBLAS on a device. Operands go there for each product and results come back;
/// sums are those of the library: double for gemm(), f32 for low_precision_gemm(), in the tensor
/// cores or not. Lives as long as the program. Errors name the call, file, line and CUDA's or
/// cuBLAS's text. Precondition: cublas_unavailable() is empty.
const Products& cublas_products(int device);

}  // namespace flashcheck
