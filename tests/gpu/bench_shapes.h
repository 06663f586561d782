#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace flashcheck::bench {

/// A call to time: f16, K and V token-major, all sequences alike.
struct BenchShape {
  enum class Kind { kPrefill, kDecode, kChunk };  // all tokens; the last few; few heads, long cache

  Kind kind;
  int64_t batch_size, seqlen_q, seqlen_k, num_heads, num_heads_k, head_dim;
  int64_t page_block_size;  // 0: not paged
  bool is_causal;           // aligned to the bottom right

  /// (query token, key) pairs of one head that the mask leaves.
  int64_t visible_pairs() const;
  /// Of all heads and sequences: a multiply-add for Q K^T and one for P V, each of head_dim.
  double useful_flops() const;
  /// K and V, read once.
  double kv_bytes() const;
};

/// "prefill", "decode", "chunk".
std::string name_of(BenchShape::Kind kind);

/// What the benchmark times, in order; `is_quick`: a small one of each kind.
///   prefill  16k tokens in all and 2,048 / head_dim heads, as FlashAttention's own figures have it
///   decode   64 heads on 8, head_dim 128, 1 or 8 query tokens; about a million tokens of cache,
///   and
///            one sequence alone, where only splitting its keys fills a device
///   chunk    256 query tokens of 8 heads on 1 behind a long cache
std::vector<BenchShape> bench_shapes(bool is_quick);

}  // namespace flashcheck::bench
