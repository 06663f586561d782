#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>

#include "src/compare/bound.h"
#include "src/compare/comparison.h"

namespace flashcheck {

/// Walks the elements of a Reference with their counterparts in an Output.
class Pairing {
 public:
  Pairing(const AttentionProblem& problem, const Output& actual, const Reference& expected)
      : problem_(problem), actual_(actual), expected_(expected) {}

  size_t num_lines() const { return expected_.lse.size(); }  // (row, head) pairs
  QueryRow row(size_t line) const {
    return expected_.rows[line / static_cast<size_t>(problem_.num_heads)];
  }
  int64_t head(size_t line) const { return static_cast<int64_t>(line) % problem_.num_heads; }
  size_t element(size_t line, int64_t c) const {
    return line * static_cast<size_t>(problem_.head_dim) + static_cast<size_t>(c);
  }
  /// As the output holds it.
  double raw_actual(size_t line, int64_t c) const {
    const int64_t index =
        (flat_row(line) * problem_.num_heads + head(line)) * problem_.head_dim + c;
    return actual_.out[static_cast<size_t>(index)];
  }
  /// An infinite output counts as the smallest number that rounds to it: its error is then finite.
  double actual(size_t line, int64_t c) const {
    const double value = raw_actual(line, c);
    return std::isinf(value) ? std::copysign(overflow_threshold(actual_.dtype), value) : value;
  }
  double actual_lse(size_t line) const {
    const QueryRow r = row(line);
    const Sequence& s = problem_.sequences[static_cast<size_t>(r.sequence)];
    const int64_t index = problem_.is_varlen
                              ? head(line) * problem_.total_q + flat_row(line)
                              : (r.sequence * problem_.num_heads + head(line)) * s.seqlen_q + r.i;
    return static_cast<double>(actual_.lse[static_cast<size_t>(index)]);
  }

 private:
  int64_t flat_row(size_t line) const {
    const QueryRow r = row(line);
    return problem_.sequences[static_cast<size_t>(r.sequence)].q_start + r.i;
  }

  const AttentionProblem& problem_;
  const Output& actual_;
  const Reference& expected_;
};

}  // namespace flashcheck
