#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/half.h"
#include "tests/simt/site.h"
#include "tests/simt/warp.h"

namespace simt {

struct Loaded {
  uint32_t* r;
  const std::byte* row;
};

struct Multiplied {
  float* c;
  const uint32_t* a;
  uint32_t b0, b1;
};

extern const Collective kLoad, kTransposedLoad, kMultiplyAddHalf, kMultiplyAddBFloat16;

/// ldmatrix of four 8x8 matrices of 16-bit elements; `row` is the lane's row in shared memory.
inline void load_matrices(uint32_t (&r)[4], const void* row, bool transposed, Site site) {
  Loaded operands{r, static_cast<const std::byte*>(row)};
  current_lane->meet(transposed ? kTransposedLoad : kLoad, kWholeWarp, &operands, site);
}

/// mma of m16n8k16: C [16][8] += A [16][16] B [16][8], summed in f32 in ascending k. The product of
/// two Half is exact in f32; so is that of two BFloat16, unless it is subnormal or overflows.
template <typename T>
void multiply_add(float (&c)[4], const uint32_t (&a)[4], uint32_t b0, uint32_t b1, Site site);

template <>
inline void multiply_add<flashcheck::Half>(float (&c)[4], const uint32_t (&a)[4], uint32_t b0,
                                           uint32_t b1, Site site) {
  Multiplied operands{c, a, b0, b1};
  current_lane->meet(kMultiplyAddHalf, kWholeWarp, &operands, site);
}

template <>
inline void multiply_add<flashcheck::BFloat16>(float (&c)[4], const uint32_t (&a)[4], uint32_t b0,
                                               uint32_t b1, Site site) {
  Multiplied operands{c, a, b0, b1};
  current_lane->meet(kMultiplyAddBFloat16, kWholeWarp, &operands, site);
}

}  // namespace simt
