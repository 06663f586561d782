#pragma once

#include <cstdint>

#include "kernels/attention_params.h"
#include "kernels/host_device.h"
#include "kernels/kv_accessor.h"
#include "kernels/mask.h"

namespace flashcheck {

/// All that concerns the lengths and offsets of one sequence, worked out once. In elements.
struct SequenceExtent {
  int64_t seqlen_q = 0, seqlen_k = 0;  // true lengths; 0 where a table decreases
  int64_t q_offset = 0, out_offset = 0;
  int64_t k_offset = 0, v_offset = 0;  // not paged: of row 0; paged: 0
  int64_t lse_offset = 0, lse_head_stride = 0;

  /// Position among the keys of query row i: negative where seqlen_q > seqlen_k hides early rows.
  FLASHCHECK_HOST_DEVICE int64_t position(int64_t i) const { return i + seqlen_k - seqlen_q; }
};

FLASHCHECK_HOST_DEVICE inline SequenceExtent sequence_extent(const AttentionParams& params,
                                                             int64_t sequence) {
  const LaunchParams& launch = params.launch;
  SequenceExtent extent;
  const int32_t* cu_q = params.cu_seqlens_q;
  const int32_t* cu_k = params.cu_seqlens_k;
  const int64_t q_start = cu_q != nullptr ? cu_q[sequence] : 0;
  const int64_t k_start = cu_k != nullptr ? cu_k[sequence] : 0;
  extent.seqlen_q = cu_q != nullptr ? cu_q[sequence + 1] - q_start : launch.seqlen_q;
  extent.seqlen_k = cu_k != nullptr ? cu_k[sequence + 1] - k_start : launch.seqlen_k;
  if (extent.seqlen_q < 0) extent.seqlen_q = 0;
  if (extent.seqlen_k < 0) extent.seqlen_k = 0;

  const int64_t q_batch = cu_q != nullptr ? 0 : sequence;  // a table replaces the batch stride
  const int64_t k_batch = cu_k != nullptr ? 0 : sequence;
  extent.q_offset = q_batch * launch.q_batch_stride + q_start * launch.q_row_stride;
  extent.out_offset = q_batch * launch.o_batch_stride + q_start * launch.o_row_stride;
  if (params.block_table == nullptr) {
    extent.k_offset = k_batch * launch.k_batch_stride + k_start * launch.k_row_stride;
    extent.v_offset = k_batch * launch.v_batch_stride + k_start * launch.v_row_stride;
  }
  if (launch.unpadded_lse != 0) {
    extent.lse_offset = q_start;
    extent.lse_head_stride = launch.total_q;
  } else {
    extent.lse_offset = sequence * launch.h * launch.seqlen_q;
    extent.lse_head_stride = launch.seqlen_q;
  }
  return extent;
}

/// Paged, candle visits ceil(max_seqlen_k / 32) tiles of 32 keys and no more, while the mask stays
/// aligned to the true length (candle-flash-attn/kernels/flash_fwd_kernel.h:564-572): keys past
/// them are not read, not even where a range names them. Without a wrapper every key counts.
FLASHCHECK_HOST_DEVICE inline Mask sequence_mask(const AttentionParams& params, int64_t sequence,
                                                 const SequenceExtent& extent) {
  const LaunchParams& launch = params.launch;
  Mask mask;
  mask.num_keys = extent.seqlen_k;
  if (params.block_table != nullptr && launch.wrapper != Wrapper::kNone) {
    const int64_t cap = (int64_t{launch.seqlen_k} + 31) / 32 * 32;
    if (mask.num_keys > cap) mask.num_keys = cap;
  }
  if (launch.is_causal != 0) {
    mask.right = 0;
  } else {
    mask.left = launch.window_size_left;
    mask.right = launch.window_size_right;
  }
  if (mask.is_limited() && params.mm_prefix_ranges != nullptr) {
    mask.ranges = params.mm_prefix_ranges + sequence * launch.mm_prefix_range_batch_stride;
    mask.num_ranges = launch.max_mm_prefix_ranges;
  }
  return mask;
}

/// K of a (sequence, kv head); V is its twin below.
template <typename T>
FLASHCHECK_HOST_DEVICE KvAccessor<T> key_rows(const AttentionParams& params, int64_t sequence,
                                              int64_t kv_head, const SequenceExtent& extent) {
  const LaunchParams& launch = params.launch;
  KvAccessor<T> rows;
  rows.first = static_cast<const T*>(params.k) + extent.k_offset + kv_head * launch.k_head_stride;
  rows.row_stride = launch.k_row_stride;
  if (params.block_table != nullptr) {
    rows.block_table = params.block_table + sequence * launch.block_table_batch_stride;
    rows.page_stride = launch.k_batch_stride;
    rows.page_block_size = static_cast<uint32_t>(launch.page_block_size);
  }
  return rows;
}

template <typename T>
FLASHCHECK_HOST_DEVICE KvAccessor<T> value_rows(const AttentionParams& params, int64_t sequence,
                                                int64_t kv_head, const SequenceExtent& extent) {
  KvAccessor<T> rows = key_rows<T>(params, sequence, kv_head, extent);
  const LaunchParams& launch = params.launch;
  rows.first = static_cast<const T*>(params.v) + extent.v_offset + kv_head * launch.v_head_stride;
  rows.row_stride = launch.v_row_stride;
  if (params.block_table != nullptr) rows.page_stride = launch.v_batch_stride;
  return rows;
}

}  // namespace flashcheck
