#pragma once

#include <cuda_runtime.h>

#include <cstdint>

#include "kernels/attention_params.h"
#include "kernels/sequence_extent.h"

namespace flashcheck {

/// The rows of a query tile: row r is lane first + r of a (sequence, kv head), lane = (token, head
/// of the group), token-major. So a decode step fills the tile with the query heads that share K
/// and V, and eight tokens of eight heads fill 64 rows.
struct QueryRows {
  uint32_t first = 0;  // lane of row 0
  int num = 0;         // of the tile's rows; <= 0: none. The others are padding
  uint32_t group = 1;  // query heads of the kv head
  uint32_t kv_head = 0;
  int64_t p_offset = 0;  // position among the keys of token 0

  __device__ int64_t token(int r) const { return (first + static_cast<uint32_t>(r)) / group; }
  __device__ int64_t head(int r) const {
    return kv_head * group + (first + static_cast<uint32_t>(r)) % group;
  }
  /// Position among the keys.
  __device__ int64_t p(int r) const { return token(r) + p_offset; }
};

__device__ inline QueryRows query_rows(const AttentionParams& params, const SequenceExtent& extent,
                                       uint32_t kv_head, uint32_t tile, int rows_per_tile) {
  QueryRows rows;
  rows.group = params.launch.h / params.launch.h_k;
  rows.kv_head = kv_head;
  rows.first = tile * static_cast<uint32_t>(rows_per_tile);
  const int64_t num = extent.seqlen_q * rows.group - rows.first;
  rows.num = num < rows_per_tile ? static_cast<int>(num) : rows_per_tile;
  rows.p_offset = extent.position(0);
  return rows;
}

}  // namespace flashcheck
