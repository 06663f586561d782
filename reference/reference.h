#pragma once

#include <cstdint>
#include <vector>

#include "reference/products.h"
#include "src/spec/attention_problem.h"
#include "src/spec/tensor.h"

namespace flashcheck {

/// Where the three data tensors of a problem are kept: indices into Inputs::storages.
struct DataStorages {
  int64_t q = 0, k = 0, v = 0;
};

/// A query row: rows of the problem are numbered through, sequence by sequence.
struct QueryRow {
  int64_t sequence = 0;
  int64_t i = 0;  // within the sequence
};

/// The truth about some query rows, in double, and what the error bound is made of
/// (docs/numerics.md). Arrays are row-major over [row][head]([head_dim]). p_j are the exact softmax
/// weights, x_j the arguments of the softmax: scaled, capped, biased. Sums are over visible keys.
/// A row that sees no key has lse +inf and 0 in everything else.
struct Reference {
  std::vector<QueryRow> rows;
  std::vector<double> out;        // [rows][num_heads][head_dim]: sum_j p_j v_jc
  std::vector<double> magnitude;  // same shape: sum_j p_j |v_jc|, what the bound of out scales with
  std::vector<double> squares;    // same shape: sum_j (p_j v_jc)^2, the variance of P's rounding
  /// Same shape: sum_j min(p_j, floor) |v_jc| over the keys whose weight, relative to the row's
  /// largest, is below the smallest normal number of P's dtype: what such a P may lose altogether.
  std::vector<double> small_magnitude;
  /// Same shape, or empty: the absolute values of all partial sums of p_j v_jc added up, one for
  /// each addition and one more where the running maximum rises, in ascending or descending order
  /// of keys, whichever is more. There for f16 problems and for those that accumulate in f16.
  std::vector<double> partial_sums;

  std::vector<double> lse;                // [rows][num_heads], natural log
  std::vector<double> max_logit;          // [rows][num_heads]: max_j |x_j|
  std::vector<double> max_dot_magnitude;  // [rows][num_heads]: max_j sum_c |q_c k_jc|
  std::vector<double> largest_weight;     // [rows][num_heads]: max_j p_j
  std::vector<double> concentration;      // [rows][num_heads]: sum_j p_j^2, one over the number of
                                          //   keys that count
  std::vector<int64_t> visible;           // [rows][num_heads]: number of visible keys
  std::vector<int64_t> max_rises;  // [rows][num_heads]: how often the running maximum rises after
                                   //   the first key, ascending or descending, whichever is more

  /// The largest error of a naive run that rounds scores (with the scale, and once more with cap
  /// and bias), weights and output to the input's dtype and sums in f32 or better: the yardstick of
  /// FlashAttention's own tests. 0 for f32.
  double low_precision_error = 0;
};

/// softmax(cap(scale * Q K^T) + bias, masked) V for the given rows, step by step as a student
/// would: gather, GEMM, scale, cap, bias, mask, softmax, GEMM. Reads the elements through the
/// declared strides and the declared block table, and of K and V only what some row sees: a NaN
/// elsewhere does no harm. `products` multiplies. Precondition: every address is inside its
/// storage. Throws what `products` throws.
Reference reference_attention(const AttentionProblem& problem, const Inputs& inputs,
                              const DataStorages& storages, std::vector<QueryRow> rows,
                              const Products& products = blas_products());

/// All rows, or, if that costs more than `max_work` multiply-adds (two for each visible key, head
/// and dim), a sample: the first and the last of every sequence whatever they cost; then, within
/// half of what is left, rows on both sides of a boundary of a query tile (64) or a page; then
/// seeded ones. Ascending, no duplicates.
std::vector<QueryRow> choose_rows(const AttentionProblem& problem, int64_t max_work, uint64_t seed);

}  // namespace flashcheck
