#include "src/spec/launch_params.h"

namespace flashcheck {
namespace {

LaunchValue offset_or_null(const std::optional<int64_t>& offset) {
  if (offset) return *offset;
  return std::monostate{};
}

}  // namespace

std::vector<LaunchField> launch_fields(const LaunchParams& p) {
  const bool is_v3 = p.wrapper == Wrapper::kCandleFlashAttnV3;
  std::vector<LaunchField> fields;
  fields.reserve(48);
  const auto integer = [&](const char* name, int64_t value) { fields.push_back({name, value}); };
  const auto real = [&](const char* name, float value) {
    fields.push_back({name, static_cast<double>(value)});
  };

  integer("q_offset_bytes", p.q_offset_bytes);
  integer("k_offset_bytes", p.k_offset_bytes);
  integer("v_offset_bytes", p.v_offset_bytes);
  fields.push_back({"cu_seqlens_q_offset_bytes", offset_or_null(p.cu_seqlens_q_offset_bytes)});
  fields.push_back({"cu_seqlens_k_offset_bytes", offset_or_null(p.cu_seqlens_k_offset_bytes)});
  fields.push_back({"has_alibi", p.alibi_slopes_offset_bytes.has_value()});
  if (!is_v3) {
    fields.push_back({"block_table_offset_bytes", offset_or_null(p.block_table_offset_bytes)});
    fields.push_back({"has_mm_prefix_ranges", p.mm_prefix_ranges_offset_bytes.has_value()});
  }
  integer("q_batch_stride", p.q_batch_stride);
  integer("k_batch_stride", p.k_batch_stride);
  integer("v_batch_stride", p.v_batch_stride);
  integer("o_batch_stride", p.o_batch_stride);
  integer("alibi_slopes_batch_stride", p.alibi_slopes_batch_stride);
  integer("q_row_stride", p.q_row_stride);
  integer("k_row_stride", p.k_row_stride);
  integer("v_row_stride", p.v_row_stride);
  integer("o_row_stride", p.o_row_stride);
  integer("q_head_stride", p.q_head_stride);
  integer("k_head_stride", p.k_head_stride);
  integer("v_head_stride", p.v_head_stride);
  integer("o_head_stride", p.o_head_stride);
  integer("b", p.b);
  integer("h", p.h);
  integer("h_k", p.h_k);
  integer("d", p.d);
  integer("d_rounded", p.d_rounded);
  real("softmax_scale", p.softmax_scale);
  integer("seqlen_q", p.seqlen_q);
  integer("seqlen_k", p.seqlen_k);
  integer("seqlen_q_rounded", p.seqlen_q_rounded);
  integer("seqlen_k_rounded", p.seqlen_k_rounded);
  integer("total_q", p.total_q);
  if (is_v3) integer("total_k", p.total_k);
  integer("is_bf16", p.is_bf16);
  integer("is_causal", p.is_causal);
  integer("unpadded_lse", p.unpadded_lse);
  if (is_v3) integer("use_gqa_packing", p.use_gqa_packing);
  integer("window_size_left", p.window_size_left);
  integer("window_size_right", p.window_size_right);
  if (is_v3) return fields;
  real("softcap", p.softcap);
  integer("block_table_batch_stride", p.block_table_batch_stride);
  integer("page_block_size", p.page_block_size);
  integer("mm_prefix_range_batch_stride", p.mm_prefix_range_batch_stride);
  integer("max_mm_prefix_ranges", p.max_mm_prefix_ranges);
  return fields;
}

}  // namespace flashcheck
