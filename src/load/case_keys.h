#pragma once

#include <array>
#include <string_view>

namespace flashcheck {

/// The words of the format: every key that an object may have, and every word of a closed set, in
/// the order in which complaints list them. docs/case.schema.json says the same.

inline constexpr auto kDocumentKeys = std::to_array<std::string_view>(
    {"schema", "id", "note", "refs", "wrapper", "function", "storages", "tensors", "args", "expect",
     "arithmetic", "seed", "tests"});
inline constexpr auto kTestKeys =
    std::to_array<std::string_view>({"id", "note", "refs", "change", "expect"});
inline constexpr auto kChangeKeys = std::to_array<std::string_view>(
    {"wrapper", "function", "storages", "tensors", "args", "arithmetic", "seed"});

inline constexpr auto kWrappers =
    std::to_array<std::string_view>({"candle-flash-attn", "candle-flash-attn-v3", "none"});
inline constexpr auto kStorageKeys = std::to_array<std::string_view>({"elements"});
inline constexpr auto kArithmeticKeys =
    std::to_array<std::string_view>({"accumulate", "p", "tanh"});
inline constexpr auto kAccumulates = std::to_array<std::string_view>({"f32", "f16"});
inline constexpr auto kPs = std::to_array<std::string_view>({"input", "f32"});
inline constexpr auto kTanhs = std::to_array<std::string_view>({"exact", "approximate"});

inline constexpr auto kTensorNames =
    std::to_array<std::string_view>({"q", "k", "v", "seqlens_q", "seqlens_k", "block_table",
                                     "mm_prefix_ranges", "alibi_slopes", "out", "lse"});
inline constexpr auto kTensorKeys =
    std::to_array<std::string_view>({"dtype", "shape", "strides", "offset", "device", "storage",
                                     "values", "fill", "file", "tensor", "axes", "layout", "from"});
inline constexpr auto kDtypes = std::to_array<std::string_view>(
    {"u8", "u32", "i16", "i32", "i64", "bf16", "f16", "f32", "f64", "f8e4m3"});
inline constexpr auto kAxes = std::to_array<std::string_view>(
    {"batch", "sequence", "token", "page", "head", "dim", "entry", "range", "bound"});

inline constexpr auto kLayoutKeys = std::to_array<std::string_view>(
    {"name", "num_blocks", "batch_size", "num_streams", "num_slots", "page_block_size", "seqlen_k",
     "kv_size", "num_heads_k", "head_dim", "kv_lora_rank", "qk_rope_head_dim", "num_layers",
     "layer", "base"});
inline constexpr auto kFromKeys =
    std::to_array<std::string_view>({"csr", "req_to_token", "seq_lens"});
inline constexpr auto kCsrKeys =
    std::to_array<std::string_view>({"indptr", "indices", "last_page_len"});

inline constexpr auto kGenerators =
    std::to_array<std::string_view>({"normal", "uniform", "constant", "ramp"});
inline constexpr auto kNormalKeys =
    std::to_array<std::string_view>({"generator", "seed", "mean", "std"});
inline constexpr auto kUniformKeys =
    std::to_array<std::string_view>({"generator", "seed", "low", "high"});
inline constexpr auto kConstantKeys = std::to_array<std::string_view>({"generator", "value"});
inline constexpr auto kRampKeys = std::to_array<std::string_view>(
    {"generator", "start", "step", "modulo", "divide", "multiply", "order"});
inline constexpr auto kOrders = std::to_array<std::string_view>({"logical", "storage"});

inline constexpr auto kArgKeys = std::to_array<std::string_view>(
    {"softmax_scale", "causal", "window_size_left", "window_size_right", "max_seqlen_q",
     "max_seqlen_k", "page_block_size", "softcap", "use_gqa_packing"});

inline constexpr auto kExpectKeys =
    std::to_array<std::string_view>({"verdict", "error", "panic", "hazards", "launch", "cause"});
inline constexpr auto kVerdicts = std::to_array<std::string_view>(
    {"ok", "error", "panic", "hazard", "mismatch", "mistrusted", "skipped", "invalid"});

}  // namespace flashcheck
