#pragma once

#include <cstdint>

#include "kernels/half.h"
#include "tests/simt/site.h"

namespace simt {

/// ldmatrix of four 8x8 matrices of 16-bit elements; `row` is the lane's row in shared memory.
void load_matrices(uint32_t (&r)[4], const void* row, bool transposed, Site site);

/// mma of m16n8k16: C [16][8] += A [16][16] B [16][8], summed in f32 in ascending k. T is Half or
/// BFloat16: the product of two is exact in f32, or rounds to a subnormal or overflows as one.
template <typename T>
void multiply_add(float (&c)[4], const uint32_t (&a)[4], uint32_t b0, uint32_t b1, Site site);

}  // namespace simt
