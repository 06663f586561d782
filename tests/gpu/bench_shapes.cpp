#include "tests/gpu/bench_shapes.h"

#include <algorithm>

namespace flashcheck::bench {
namespace {

using Kind = BenchShape::Kind;

BenchShape prefill(int64_t head_dim, int64_t tokens, int64_t total_tokens, bool is_causal) {
  const int64_t heads = 2048 / head_dim;
  return {Kind::kPrefill,
          total_tokens / tokens,
          tokens,
          tokens,
          heads,
          heads,
          head_dim,
          /*page_block_size=*/0,
          is_causal};
}

BenchShape decode(int64_t batch_size, int64_t seqlen_q, int64_t tokens, int64_t page_block_size) {
  return {Kind::kDecode,     batch_size, seqlen_q, tokens, 64, 8, 128, page_block_size,
          /*is_causal=*/true};
}

BenchShape chunk(int64_t head_dim, int64_t tokens, int64_t page_block_size) {
  return {Kind::kChunk, 1, 256, tokens, 8, 1, head_dim, page_block_size, /*is_causal=*/true};
}

}  // namespace

int64_t BenchShape::visible_pairs() const {
  if (!is_causal) return seqlen_q * seqlen_k;
  return seqlen_q * (seqlen_k - seqlen_q) + seqlen_q * (seqlen_q + 1) / 2;
}

double BenchShape::useful_flops() const {
  const auto pairs =
      static_cast<double>(batch_size * num_heads) * static_cast<double>(visible_pairs());
  return 4 * static_cast<double>(head_dim) * pairs;
}

double BenchShape::kv_bytes() const {
  return 2.0 * 2 * static_cast<double>(batch_size * seqlen_k * num_heads_k * head_dim);
}

std::string name_of(Kind kind) {
  switch (kind) {
    case Kind::kPrefill:
      return "prefill";
    case Kind::kDecode:
      return "decode";
    case Kind::kChunk:
      return "chunk";
  }
  return "";
}

std::vector<BenchShape> bench_shapes(bool is_quick) {
  if (is_quick) {
    return {prefill(64, 512, 1024, true),  prefill(128, 512, 1024, false),
            prefill(256, 512, 1024, true), decode(4, 1, 4096, 16),
            decode(1, 8, 4096, 64),        chunk(128, 4096, 64)};
  }
  std::vector<BenchShape> shapes;
  for (const int64_t head_dim : {64, 128, 256}) {
    for (const bool is_causal : {false, true}) {
      for (const int64_t tokens : {2048, 4096, 8192, 16384}) {
        shapes.push_back(prefill(head_dim, tokens, 16384, is_causal));
      }
    }
  }
  for (const int64_t seqlen_q : {1, 8}) {
    for (const int64_t tokens : {4096, 32768, 131072}) {
      for (const int64_t page : {16, 64, 256}) {
        const int64_t batch_size = std::min<int64_t>(128, (int64_t{1} << 20) / tokens);
        shapes.push_back(decode(batch_size, seqlen_q, tokens, page));
      }
      shapes.push_back(decode(1, seqlen_q, tokens, 64));
    }
  }
  for (const int64_t page : {0, 64}) {
    shapes.push_back(chunk(128, 32768, page));
    shapes.push_back(chunk(256, 32768, page));
  }
  return shapes;
}

}  // namespace flashcheck::bench
