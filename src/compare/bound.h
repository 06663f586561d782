#pragma once

#include <cstddef>
#include <cstdint>

#include "reference/reference.h"
#include "src/spec/arithmetic.h"
#include "src/spec/attention_problem.h"

namespace flashcheck {

/// How far a correct kernel's results for one (row, head) can be from the truth, with the given
/// arithmetic. docs/numerics.md derives each term and uses the same names.
class RowBound {
 public:
  /// `position` is of Reference's arrays [rows][num_heads]; `out_dtype` is what the kernel writes.
  RowBound(const AttentionProblem& problem, const Arithmetic& arithmetic, Dtype out_dtype,
           const Reference& expected, size_t position);

  /// Of element `element` of Reference::out, which belongs to this row. +inf if the arithmetic
  /// promises nothing.
  double out(size_t element) const;
  /// Of the natural log of the sum of exponentials. Precondition: the row sees a key.
  double lse() const;

 private:
  const Reference& expected_;
  Arithmetic arithmetic_;
  Dtype out_dtype_;
  bool p_is_rounded_;
  double num_keys_, num_rises_, max_logit_, largest_weight_, lse_;
  double weight_error_;    // a: of p_j v_j summed, relative to A
  double divisor_error_;   // b: of the sum of exponentials, relative
  bool small_p_is_known_;  // whether small_magnitude is of this arithmetic's P
};

/// The smallest number that rounds to infinity in a floating dtype.
double overflow_threshold(Dtype dtype);

}  // namespace flashcheck
