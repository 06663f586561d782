#pragma once

#include <cstdint>

#include "src/spec/dtype.h"
#include "src/spec/tensor_spec.h"

namespace flashcheck {

/// Element `n` of a generator's sequence, to be rounded to `dtype` (nearest, ties to even) when it
/// is stored. The same on every machine: integer arithmetic, and IEEE operations that round once.
///
///   normal    fma(std, z, mean), z = standard_normal(seed, n)
///   uniform   fma(high - low, u, low), u = the top 53 bits of random_bits(seed, n), over 2^53
///   constant  value
///   ramp      x = fma(step, n mod modulo, start) / divide; if multiply is not 1, x and multiply
///             are each rounded to dtype and multiplied
///
/// `n` is the element's logical (row-major) index, or, for a ramp in storage order, its distance
/// from the tensor's offset.
double fill_element(const Fill& fill, Dtype dtype, int64_t n);

/// A normal deviate by Teichroew's method (Knuth, TAOCP 3.4.1): the sum of twelve uniform 16-bit
/// numbers, bent by an odd polynomial so that the tails are right. Computed in 64-bit integers, an
/// exact multiple of 2^-32. Of N(0,1) it is off by less than 0.001 inside 3 standard deviations.
double standard_normal(uint64_t seed, uint64_t n);

}  // namespace flashcheck
