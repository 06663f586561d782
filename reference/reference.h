#pragma once

#include <cstdint>
#include <vector>

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

/// The truth about some query rows, in double. Arrays are row-major over [row][head]([head_dim]).
struct Reference {
  std::vector<QueryRow> rows;
  std::vector<double> out;        // [rows][num_heads][head_dim]; 0 for a row that sees no key
  std::vector<double> magnitude;  // same shape: sum_j p_j |v_jc|, what the bound of out scales with
  std::vector<double> lse;        // [rows][num_heads], natural log; +inf for a row that sees no key
  std::vector<double>
      max_logit;  // [rows][num_heads]: max_j |x_j| over visible keys, x_j the argument
                  //   of the softmax (scaled, capped, biased); 0 if none is visible
  std::vector<double> max_dot_magnitude;  // [rows][num_heads]: max_j sum_c |q_c k_jc|, visible keys
  std::vector<int64_t> visible;           // [rows][num_heads]: number of visible keys
};

/// softmax(cap(scale * Q K^T) + bias, masked) V for the given rows, step by step as a student
/// would: gather, GEMM, scale, cap, bias, mask, softmax, GEMM. Reads the elements through the
/// declared strides and the declared block table. Precondition: every address is inside its
/// storage.
Reference reference_attention(const AttentionProblem& problem, const Inputs& inputs,
                              const DataStorages& storages, std::vector<QueryRow> rows);

/// All rows, or, if that costs more than `max_work` multiply-adds, a sample: the first and the last
/// of every sequence, the rows on both sides of every multiple of 16 nearest to those of a tile or
/// page boundary, then seeded ones; at least one row a sequence, ascending, no duplicates.
std::vector<QueryRow> choose_rows(const AttentionProblem& problem, int64_t max_work, uint64_t seed);

}  // namespace flashcheck
