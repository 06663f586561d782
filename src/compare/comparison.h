#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "reference/reference.h"
#include "src/spec/arithmetic.h"
#include "src/spec/attention_problem.h"

namespace flashcheck {

/// One wrong element, with what a person needs to find it.
struct Mismatch {
  int64_t sequence = 0, head = 0, row = 0, column = 0;  // row within the sequence
  double actual = 0, expected = 0, error = 0, bound = 0;
  double ratio() const;  // error / bound; +inf where not finite
  std::vector<int64_t>
      visible_pages;  // paged: the distinct pages this row sees, in order; else empty
};

/// The first (row, head) whose lse is out of its bound.
struct LseMismatch {
  int64_t sequence = 0, head = 0, row = 0;
  double actual = 0, expected = 0, bound = 0;
};

/// The numbers of a comparison; judging them is judge.h's affair.
struct Comparison {
  int64_t num_rows_checked = 0, num_rows = 0;  // query rows x heads are checked together
  int64_t num_elements = 0;                    // checked
  int64_t num_mismatched = 0;                  // !(error <= bound)
  int64_t num_nonfinite = 0;                   // actual is NaN or infinite where expected is finite
  int64_t num_unwritten = 0;            // still hold the poison; counted over the whole output
  int64_t num_guard_bytes_changed = 0;  // written outside the output
  int64_t num_unbounded = 0;            // elements for which the arithmetic promises nothing
  int64_t num_wrong_rows = 0;           // (row, head) pairs with a mismatch
  std::vector<int64_t> wrong_rows_of_head, wrong_rows_of_sequence;  // the same pairs, counted apart
  double max_ratio = 0, median_ratio = 0;
  std::vector<Mismatch> worst;  // of the mismatched: at most 8, worst first, then by position
  bool is_constant = false;     // every actual element is the same number
  double constant_value = 0;    // which

  int64_t num_lse_checked = 0, num_lse_mismatched = 0;
  double max_lse_ratio = 0;
  std::optional<LseMismatch> first_lse_mismatch;

  // Information, never the verdict.
  std::optional<double> fa2_ratio;  // max|actual - expected| / (2 * that of a same-precision naive
                                    //   run + one output ulp): FlashAttention's own test; none for
                                    //   f32 and where an output is not finite
  int64_t num_statistical_outliers = 0;  // (row, head) pairs beyond the per-row statistical rule
  std::optional<Arithmetic> fits;        // of a mismatch: another arithmetic whose bound holds
};

/// An output as it came: of a kernel run or a dump. Elements in q's logical order.
struct Output {
  Dtype dtype = Dtype::kF16;
  std::vector<double> out;    // [total_q or batch*seqlen_q][num_heads][head_dim]
  std::vector<float> lse;     // laid out as AttentionParams::lse; empty: none
  int64_t num_unwritten = 0;  // of a kernel run
  int64_t num_guard_bytes_changed = 0;
};

/// Holds `actual` against `expected` within the derived bound (docs/numerics.md).
Comparison compare(const AttentionProblem& problem, const Output& actual,
                   const Reference& expected);

}  // namespace flashcheck
