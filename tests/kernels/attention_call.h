#pragma once

#include <cstddef>
#include <cstdint>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "kernels/attention_params.h"
#include "kernels/backend.h"

namespace flashcheck::testing {

/// `value` as the bits of a floating dtype, rounded to nearest-even, and back: by arithmetic on
/// doubles, with nothing of the kernel's.
uint32_t encode(Dtype dtype, double value);
double decode(Dtype dtype, uint32_t bits);

/// How the rows of a tensor lie within a sequence batch, a flat tensor or a page.
struct RowLayout {
  bool is_head_major = false;  // [head][row][d] instead of [row][head][d]
  int64_t gap = 0;             // unused elements after each row of each head
};

/// A small attention call, described.
struct CallShape {
  Dtype dtype = Dtype::kF16;
  int64_t h = 1, h_k = 1, d = 8;
  std::vector<int64_t> seqlens_q = {1}, seqlens_k = {1};  // not varlen: all alike
  bool is_varlen = false;
  int64_t page_block_size = 0;  // 0: not paged; paged: is_varlen too
  int64_t max_seqlen_k = -1;    // launch.seqlen_k of a varlen call; -1: the true maximum
  bool is_causal = false;
  int64_t left = -1, right = -1;
  float softmax_scale = 0.25f, softcap = 0;
  bool has_alibi = false;
  std::vector<std::vector<std::pair<int, int>>> ranges;  // [sequence][range]; empty: none
  bool rounds_p = true;
  RowLayout q, k, v;
  int64_t uncovered_rows = 0;  // of q, before the first and after the last sequence (varlen)
  uint32_t seed = 1;
};

/// The call with its memory. Every byte that no row owns is 0xFF (NaN in each dtype); out and lse
/// have guards on both sides.
class AttentionCall {
 public:
  explicit AttentionCall(const CallShape& shape);

  AttentionParams params();
  /// All memory that params() points into.
  std::vector<HostRegion> regions();

  // Logical elements, as stored: row counts within the sequence.
  double q(int64_t sequence, int64_t i, int64_t head, int64_t c) const;
  double k(int64_t sequence, int64_t j, int64_t kv_head, int64_t c) const;
  double v(int64_t sequence, int64_t j, int64_t kv_head, int64_t c) const;
  double out(int64_t sequence, int64_t i, int64_t head, int64_t c) const;
  float lse(int64_t sequence, int64_t i, int64_t head) const;
  void set_q(int64_t sequence, int64_t i, int64_t head, int64_t c, double value);
  void set_k(int64_t sequence, int64_t j, int64_t kv_head, int64_t c, double value);
  void set_v(int64_t sequence, int64_t j, int64_t kv_head, int64_t c, double value);

  /// Bytes that no row of a sequence owns and that are not as they were before the run.
  int64_t num_stray_bytes() const;
  const std::vector<std::byte>& out_bytes() const { return out_; }
  const std::vector<float>& lse_values() const { return lse_; }

  const CallShape shape;
  std::vector<float> slopes;  // [h] if shape.has_alibi

 private:
  /// In elements; batch: of a sequence or page.
  struct Strides {
    int64_t batch, row, head;
  };
  Strides strides(const RowLayout& layout, int64_t num_rows, int64_t num_heads) const;
  int64_t q_index(int64_t sequence, int64_t i, int64_t head) const;
  int64_t kv_index(const Strides& to, int64_t sequence, int64_t j, int64_t kv_head) const;
  int64_t out_index(int64_t sequence, int64_t i, int64_t head) const;
  int64_t lse_index(int64_t sequence, int64_t i, int64_t head) const;

  int64_t max_q_ = 0, max_k_ = 0, total_q_ = 0, pages_a_row_ = 0;
  Strides q_strides_{}, k_strides_{}, v_strides_{};
  std::vector<int32_t> cu_q_, cu_k_, block_table_, ranges_;
  std::vector<std::byte> q_, k_, v_, out_;
  std::vector<float> lse_;
};

/// What a naive double loop over the call gives for one (sequence, head, row), with the bounds of
/// its rounding.
struct NaiveRow {
  std::vector<double> out, bound;
  double lse = 0, lse_bound = 0;
  int64_t visible = 0;
};
NaiveRow naive_row(const AttentionCall& call, int64_t sequence, int64_t i, int64_t head);

/// What is wrong with a call that has run: rows that are not naive_row's, the first few of them,
/// and bytes that nobody should have written.
std::vector<std::string> faults_of(const AttentionCall& call);

/// Runs the CPU kernel and expects no faults.
void check_against_naive(AttentionCall& call, int num_threads = 1);

/// A random call of any kind the kernel takes.
CallShape random_shape(std::mt19937& rng);

}  // namespace flashcheck::testing
