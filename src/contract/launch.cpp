#include "src/contract/launch.h"

#include <algorithm>
#include <limits>

namespace flashcheck {
namespace {

// Rust's `as`: the high bits go, in silence (candle-flash-attn/src/lib.rs:178-207, 780-812).
uint32_t as_u32(int64_t value) { return static_cast<uint32_t>(value); }
uint32_t as_u32(uint64_t value) { return static_cast<uint32_t>(value); }
int32_t as_i32(int64_t value) { return static_cast<int32_t>(value); }

uint32_t rounded_up(int64_t value, uint64_t multiple) {
  return as_u32((static_cast<uint64_t>(value) + multiple - 1) / multiple * multiple);
}

int64_t offset_bytes(const TensorSpec& tensor) {
  const uint64_t size = static_cast<uint64_t>(size_in_bytes(tensor.dtype));
  return static_cast<int64_t>(static_cast<uint64_t>(tensor.offset) * size);
}

std::optional<int64_t> offset_bytes_of(const Case& c, TensorName name) {
  const TensorSpec* tensor = c.find(name);
  if (!tensor) return std::nullopt;
  return offset_bytes(*tensor);
}

std::optional<int64_t> window_size_right(const Case& c) {
  if (c.function->windowed) return c.args.window_size_right;
  return c.args.causal ? std::optional<int64_t>(0) : std::nullopt;
}

/// A window wider than the longest key sequence is no window
/// (candle-flash-attn/src/lib.rs:124-135).
int32_t filtered(std::optional<int64_t> window, int64_t max_seqlen_k) {
  return window && *window <= max_seqlen_k ? as_i32(*window) : -1;
}

int32_t unfiltered(std::optional<int64_t> window) {
  constexpr int64_t kMax = std::numeric_limits<int32_t>::max();
  return window ? as_i32(std::min(*window, kMax)) : -1;
}

/// candle-flash-attn/src/lib.rs:124-161 and 684-724, candle-flash-attn-v3/src/lib.rs:144-184 and
/// 589-628.
void set_windows(const Call& call, int64_t max_seqlen_k, LaunchParams& p) {
  const Case& c = call.c;
  if (call.op.wrapper == Wrapper::kNone) {
    p.window_size_left = unfiltered(c.args.window_size_left);
    p.window_size_right = unfiltered(window_size_right(c));
    p.is_causal = p.window_size_left < 0 && p.window_size_right == 0;
    return;
  }
  int32_t left = filtered(c.args.window_size_left, max_seqlen_k);
  int32_t right = filtered(window_size_right(c), max_seqlen_k);
  // Ranges are read by the local kernel alone.
  if (call.op.paged && c.find(TensorName::kMmPrefixRanges) && left < 0 && right == 0) {
    left = as_i32(max_seqlen_k);
  }
  p.is_causal = left < 0 && right == 0;
  if (left < 0 && right >= 0) left = as_i32(max_seqlen_k);
  if (left >= 0 && right < 0) right = as_i32(max_seqlen_k);
  p.window_size_left = left;
  p.window_size_right = right;
}

void set_fixed(const Case& c, LaunchParams& p) {
  p.b = as_u32(c.q().shape[0]);
  p.q_batch_stride = as_u32(c.q().strides[0]);
  p.k_batch_stride = as_u32(c.k().strides[0]);
  p.v_batch_stride = as_u32(c.v().strides[0]);
  p.seqlen_q = as_u32(c.q().shape[1]);
  p.seqlen_k = as_u32(c.k().shape[1]);
  p.o_batch_stride = p.seqlen_q * p.o_row_stride;
  p.seqlen_q_rounded = rounded_up(c.q().shape[1], 128);
  p.seqlen_k_rounded = rounded_up(c.k().shape[1], 128);
  p.page_block_size = -1;
  if (p.wrapper != Wrapper::kCandleFlashAttnV3) p.total_q = p.b * p.seqlen_q;
}

void set_varlen(const Case& c, LaunchParams& p) {
  p.b = as_u32(c.at(TensorName::kSeqlensQ).shape[0] - 1);
  p.cu_seqlens_q_offset_bytes = offset_bytes_of(c, TensorName::kSeqlensQ);
  p.cu_seqlens_k_offset_bytes = offset_bytes_of(c, TensorName::kSeqlensK);
  p.seqlen_q = as_u32(c.args.max_seqlen_q);
  p.seqlen_k = as_u32(c.args.max_seqlen_k);
  p.seqlen_q_rounded = rounded_up(c.args.max_seqlen_q, 128);
  p.seqlen_k_rounded = rounded_up(c.args.max_seqlen_k, 128);
  p.total_q = as_u32(c.q().shape[0]);
  p.unpadded_lse = 1;
  if (p.wrapper == Wrapper::kCandleFlashAttnV3) p.total_k = as_u32(c.k().shape[0]);
}

void set_paged(const Case& c, LaunchParams& p) {
  const TensorSpec& table = c.at(TensorName::kBlockTable);
  p.block_table_offset_bytes = offset_bytes(table);
  // The number of columns, whatever the stride (candle-flash-attn/src/lib.rs:507-515).
  const bool is_guarded = p.wrapper != Wrapper::kNone;
  p.block_table_batch_stride = as_u32(is_guarded ? table.shape[1] : table.strides[0]);
  p.page_block_size = as_i32(c.args.page_block_size);
  p.k_batch_stride = as_u32(c.k().strides[0]);
  p.v_batch_stride = as_u32(c.v().strides[0]);
  if (const TensorSpec* ranges = c.find(TensorName::kMmPrefixRanges)) {
    p.mm_prefix_ranges_offset_bytes = offset_bytes(*ranges);
    p.mm_prefix_range_batch_stride = as_u32(ranges->strides[0]);
    p.max_mm_prefix_ranges = as_i32(ranges->shape[1]);
  }
}

/// v3 packs the query heads of a group for these group sizes alone
/// (candle-flash-attn-v3/src/lib.rs:105-108, 539-542).
bool can_pack(int64_t group) {
  return group == 2 || group == 4 || group == 8 || group == 16 || group == 32;
}

}  // namespace

LaunchParams launch_of(const Call& call) {
  const Case& c = call.c;
  const auto row = [](const TensorSpec& t) { return as_u32(t.strides[t.strides.size() - 3]); };
  const auto head = [](const TensorSpec& t) { return as_u32(t.strides[t.strides.size() - 2]); };
  LaunchParams p;
  p.wrapper = call.op.wrapper;
  p.q_offset_bytes = offset_bytes(c.q());
  p.k_offset_bytes = offset_bytes(c.k());
  p.v_offset_bytes = offset_bytes(c.v());
  p.alibi_slopes_offset_bytes = offset_bytes_of(c, TensorName::kAlibiSlopes);
  p.q_row_stride = row(c.q());
  p.k_row_stride = row(c.k());
  p.v_row_stride = row(c.v());
  p.q_head_stride = head(c.q());
  p.k_head_stride = head(c.k());
  p.v_head_stride = head(c.v());
  p.h = as_u32(call.num_heads());
  p.h_k = as_u32(call.num_heads_k());
  p.d = rounded_up(call.head_dim(), 8);
  p.d_rounded = rounded_up(call.head_dim(), 32);
  // The output is fresh and row-major in q's shape. Cutting the factors first cuts the product.
  p.o_head_stride = p.d;
  p.o_row_stride = p.h * p.d;
  p.softmax_scale = c.args.softmax_scale;
  p.is_bf16 = c.q().dtype == Dtype::kBF16;
  p.softcap = c.args.softcap.value_or(0);
  if (call.op.wrapper == Wrapper::kCandleFlashAttnV3) {
    p.use_gqa_packing = c.args.use_gqa_packing && can_pack(call.num_heads() / call.num_heads_k());
  }
  if (call.op.varlen) {
    set_varlen(c, p);
  } else {
    set_fixed(c, p);
  }
  if (call.op.paged) set_paged(c, p);
  set_windows(call, call.op.varlen ? c.args.max_seqlen_k : c.k().shape[1], p);
  return p;
}

}  // namespace flashcheck
