#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "src/spec/case.h"

namespace flashcheck {

/// Field for field what a wrapper passes to its C++ side: run_mha
/// (candle-flash-attn/src/lib.rs:147-207 and 726-812) or run_mha_v3
/// (candle-flash-attn-v3/src/lib.rs:170-233 and 614-680), in the widths the wrapper casts to.
/// Strides are in elements, already cut to 32 bits. Pointers are given as their distance in bytes
/// from the start of the tensor's storage.
struct LaunchParams {
  Wrapper wrapper = Wrapper::kCandleFlashAttn;

  int64_t q_offset_bytes = 0, k_offset_bytes = 0, v_offset_bytes = 0;
  std::optional<int64_t> cu_seqlens_q_offset_bytes, cu_seqlens_k_offset_bytes;  // nothing: null
  std::optional<int64_t> alibi_slopes_offset_bytes;
  std::optional<int64_t> block_table_offset_bytes;
  std::optional<int64_t> mm_prefix_ranges_offset_bytes;

  uint32_t q_batch_stride = 0, k_batch_stride = 0, v_batch_stride = 0, o_batch_stride = 0;
  uint32_t alibi_slopes_batch_stride = 0;
  uint32_t q_row_stride = 0, k_row_stride = 0, v_row_stride = 0, o_row_stride = 0;
  uint32_t q_head_stride = 0, k_head_stride = 0, v_head_stride = 0, o_head_stride = 0;
  uint32_t b = 0, h = 0, h_k = 0;
  uint32_t d = 0, d_rounded = 0;
  float softmax_scale = 1;
  uint32_t seqlen_q = 0, seqlen_k = 0, seqlen_q_rounded = 0, seqlen_k_rounded = 0;
  uint32_t total_q = 0, total_k = 0;  // total_k: v3 alone
  int32_t is_bf16 = 0, is_causal = 0, unpadded_lse = 0;
  int32_t use_gqa_packing = 0;                            // v3 alone
  int32_t window_size_left = -1, window_size_right = -1;  // negative: no limit; both ends inclusive
  // From here on v2 alone.
  float softcap = 0;
  uint32_t block_table_batch_stride = 0;  // the table's columns, whatever its stride
  int32_t page_block_size = 0;
  uint32_t mm_prefix_range_batch_stride = 0;
  int32_t max_mm_prefix_ranges = 0;
};

/// The parameters under their names in `expect.launch`, in the order above; of v3 those that
/// run_mha_v3 has, of v2 (and Wrapper::kNone) those that run_mha has. A null pointer's offset is
/// std::monostate; of slopes and ranges only `has_alibi` and (v2) `has_mm_prefix_ranges` are told.
std::vector<LaunchField> launch_fields(const LaunchParams& params);

}  // namespace flashcheck
