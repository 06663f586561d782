#pragma once

#include <cstdint>

#include "kernels/half.h"

namespace flashcheck::bench {

/// Fills device memory with normal variates, the same for the same seed. Numbers matter to a time:
/// zeros draw less power, and a GPU that draws less power runs faster. Does not wait. Throws
/// std::runtime_error if the launch fails.
void fill_with_normals(Half* to, int64_t num_elements, uint64_t seed);

}  // namespace flashcheck::bench
