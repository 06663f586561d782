#pragma once

#include <cstdint>
#include <random>

#include "src/spec/case.h"

/// A random call that the wrapper should accept and a kernel should get right: every function of
/// every wrapper, f16, bf16 and (without a wrapper) f32, grouped heads, lengths down to 0, pages in
/// any order, fused and padded strides, K and V in one storage, windows, softcap, slopes, ranges.
/// It may still carry a hazard: the quirks of the wrappers are not avoided.
flashcheck::Case random_call(std::mt19937_64& random);
