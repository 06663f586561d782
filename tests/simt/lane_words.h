#pragma once

#include <cstddef>

#include "tests/simt/site.h"

namespace simt {

// The words that a lane says for itself.

/// Starts to copy 16 bytes to shared memory, of which `num_bytes` come from `global`.
void start_copy(void* shared, const void* global, int num_bytes, Site site);
void commit_copies();
/// Until at most the `pending` last groups of this lane's copies are under way.
void wait_for_copies(int pending);

/// The block's, as large as its launch says.
std::byte* dynamic_shared_memory();

/// 2^x as a device's ex2.approx.ftz.f32 may give it: exact for zeros, infinities and NaN, elsewhere
/// off by a part that the bits of x decide, up to 2^-22; results below 2^-126 are 0.
float ex2_approx(float x);

}  // namespace simt
