#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace flashcheck {

/// Who is called. kNone: nobody's checks; the call goes straight to the kernel, in the words of
/// candle-flash-attn's functions (for dumps of engines that no wrapper guards, and for f32).
enum class Wrapper : uint8_t { kCandleFlashAttn, kCandleFlashAttnV3, kNone };

/// "candle-flash-attn", "candle-flash-attn-v3", "none".
std::string_view name_of(Wrapper wrapper);

/// How an argument of a wrapper's function is declared in Rust.
enum class Presence : uint8_t { kAbsent, kOptional, kRequired };

/// One public function of a wrapper: candle-flash-attn/src/lib.rs:270-1167 and
/// candle-flash-attn-v3/src/lib.rs:291-912. Every function has q, k, v and softmax_scale; a varlen
/// one has seqlens_q, seqlens_k, max_seqlen_q and max_seqlen_k too. A function has either `causal`
/// or the two windows (both Option<usize>).
struct WrapperFunction {
  Wrapper wrapper = Wrapper::kCandleFlashAttn;
  std::string_view name;
  bool varlen = false;
  bool paged = false;     // block_table, mm_prefix_ranges (optional), page_block_size
  bool windowed = false;  // window_size_left/right instead of causal
  Presence alibi = Presence::kAbsent;
  Presence softcap = Presence::kAbsent;
  bool has_gqa_packing = false;  // use_gqa_packing
};

/// All of them: 11 of candle-flash-attn, 8 of candle-flash-attn-v3, and 11 of Wrapper::kNone, which
/// has candle-flash-attn's.
std::span<const WrapperFunction> wrapper_functions();
/// Null if the wrapper has no such function. The result lives for ever.
const WrapperFunction* find_function(Wrapper wrapper, std::string_view name);

}  // namespace flashcheck
