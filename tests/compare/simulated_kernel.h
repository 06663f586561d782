#pragma once

#include "src/compare/comparison.h"
#include "tests/reference/problems.h"

namespace flashcheck::testing {

/// A flash-attention kernel in f32 as a test imagines it, with the liberties that real ones take
/// and, if wanted, a fault.
struct Simulation {
  int64_t tile = 32;         // keys
  bool descending = true;    // order of tiles, as FlashAttention-2 has it
  bool truncates = false;    // sums round toward zero, as matrix units do
  bool rounds_p = true;      // to the input's dtype
  bool sums_in_f16 = false;  // the running output, key by key
  Dtype out_dtype = Dtype::kF16;

  bool drops_last_key = false;
  float scale_factor = 1;  // 1.01: one percent off
};

Output simulate(const TestProblem& test, const Simulation& simulation);

}  // namespace flashcheck::testing
