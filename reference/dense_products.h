#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "reference/products.h"

namespace flashcheck {

/// What is taken of each element before it is multiplied.
enum class Of : uint8_t { kItself, kMagnitude, kSquare };

/// Lines of numbers over the keys [first_key, first_key + num_keys): scores, then weights.
struct KeyBlock {
  int64_t num_lines = 0, first_key = 0, num_keys = 0;
  std::vector<double> values;  // [num_lines][num_keys]

  KeyBlock(int64_t num_lines, int64_t first_key, int64_t num_keys)
      : num_lines(num_lines),
        first_key(first_key),
        num_keys(num_keys),
        values(static_cast<size_t>(num_lines * num_keys)) {}
  /// The number of key `j` is line(n)[j - first_key].
  double* line(int64_t n) { return values.data() + n * num_keys; }
  const double* line(int64_t n) const { return values.data() + n * num_keys; }
};

/// scores = f(q) f(k)^T. q is [num_lines][head_dim], k is [seqlen_k][head_dim].
void times_keys(const Products& products, Of of, const std::vector<double>& q,
                const std::vector<double>& k, int64_t head_dim, KeyBlock& scores);

/// weights f(v), as [num_lines][head_dim]. v is [seqlen_k][head_dim].
std::vector<double> times_values(const Products& products, Of of, const KeyBlock& weights,
                                 const std::vector<double>& v, int64_t head_dim);

}  // namespace flashcheck
