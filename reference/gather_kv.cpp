#include "reference/gather_kv.h"

#include <cmath>

namespace flashcheck {
namespace {

/// Where the row of head_dim elements of key j starts.
int64_t key_address(const AttentionProblem& problem, const Rows& rows, int64_t sequence, int64_t j,
                    int64_t head_k) {
  int64_t batch = 0, row = 0;
  if (problem.is_paged) {
    const auto& pages = problem.block_table[static_cast<size_t>(sequence)];
    batch = pages[static_cast<size_t>(j / problem.page_block_size)];
    row = j % problem.page_block_size;
  } else if (problem.is_varlen) {
    row = problem.sequences[static_cast<size_t>(sequence)].k_start + j;
  } else {
    batch = sequence;
    row = j;
  }
  return rows.offset + batch * rows.batch_stride + row * rows.row_stride +
         head_k * rows.head_stride;
}

void copy_row(const StorageBytes& storage, Dtype dtype, int64_t address, int64_t dim_stride,
              int64_t head_dim, double* to) {
  for (int64_t c = 0; c < head_dim; ++c) {
    to[c] = read_element(storage, dtype, address + c * dim_stride);
  }
}

}  // namespace

DenseKv gather_kv(const AttentionProblem& problem, const Inputs& inputs,
                  const DataStorages& storages, int64_t sequence, int64_t head_k) {
  const int64_t seqlen_k = problem.sequences[static_cast<size_t>(sequence)].seqlen_k;
  const int64_t head_dim = problem.head_dim;
  const StorageBytes& k_storage = inputs.storages[static_cast<size_t>(storages.k)];
  const StorageBytes& v_storage = inputs.storages[static_cast<size_t>(storages.v)];
  DenseKv dense;
  dense.k.resize(static_cast<size_t>(seqlen_k * head_dim));
  dense.v.resize(static_cast<size_t>(seqlen_k * head_dim));
  for (int64_t j = 0; j < seqlen_k; ++j) {
    double* const v_row = dense.v.data() + j * head_dim;
    copy_row(k_storage, problem.dtype, key_address(problem, problem.k, sequence, j, head_k),
             problem.k.dim_stride, head_dim, dense.k.data() + j * head_dim);
    copy_row(v_storage, problem.dtype, key_address(problem, problem.v, sequence, j, head_k),
             problem.v.dim_stride, head_dim, v_row);
    for (int64_t c = 0; c < head_dim; ++c) {
      if (std::isfinite(v_row[c])) continue;
      dense.nonfinite_values.push_back({j, c, v_row[c]});
      v_row[c] = 0;
    }
  }
  return dense;
}

void gather_query(const AttentionProblem& problem, const Inputs& inputs,
                  const DataStorages& storages, QueryRow row, int64_t head, double* q) {
  const Rows& rows = problem.q;
  const Sequence& s = problem.sequences[static_cast<size_t>(row.sequence)];
  const int64_t address =
      rows.offset + head * rows.head_stride +
      (problem.is_varlen ? (s.q_start + row.i) * rows.row_stride
                         : row.sequence * rows.batch_stride + row.i * rows.row_stride);
  copy_row(inputs.storages[static_cast<size_t>(storages.q)], problem.dtype, address,
           rows.dim_stride, problem.head_dim, q);
}

}  // namespace flashcheck
