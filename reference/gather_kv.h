#pragma once

#include <cstdint>
#include <vector>

#include "reference/reference.h"
#include "src/spec/attention_problem.h"
#include "src/spec/tensor.h"

namespace flashcheck {

/// The keys and values of one sequence and one kv head, side by side, whatever pages they were in.
struct DenseKv {
  std::vector<double> k, v;  // [seqlen_k][head_dim]

  /// Elements of v that are NaN or infinite. In `v` they are 0, because 0 * NaN is NaN: a matrix
  /// product would let a key that a row does not see spoil the row.
  struct NonfiniteValue {
    int64_t j = 0, c = 0;
    double value = 0;
  };
  std::vector<NonfiniteValue> nonfinite_values;  // ascending in j
};

DenseKv gather_kv(const AttentionProblem& problem, const Inputs& inputs,
                  const DataStorages& storages, int64_t sequence, int64_t head_k);

/// Copies one query row of one head to q[head_dim].
void gather_query(const AttentionProblem& problem, const Inputs& inputs,
                  const DataStorages& storages, QueryRow row, int64_t head, double* q);

}  // namespace flashcheck
