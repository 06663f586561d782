#pragma once

#include <vector>

#include "tests/reference/problems.h"

namespace flashcheck::testing {

/// Attention in double by the definition, one key at a time, sharing nothing with reference/: what
/// the reference is held against. Rows of every sequence in order, as choose_rows gives all of
/// them.
struct ScalarAttention {
  std::vector<double> out, magnitude;           // [rows][num_heads][head_dim]
  std::vector<double> lse, max_logit, max_dot;  // [rows][num_heads]
  std::vector<int64_t> visible;                 // [rows][num_heads]
  std::vector<std::vector<double>> weights;     // [rows][num_heads], of all keys; 0: not visible
};
ScalarAttention scalar_attention(const TestProblem& test);

}  // namespace flashcheck::testing
