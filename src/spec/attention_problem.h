#pragma once

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "src/spec/arithmetic.h"
#include "src/spec/dtype.h"

namespace flashcheck {

/// One sequence of the batch. Query row i (0-based within the sequence) has the absolute key
/// position i + seqlen_k - seqlen_q: the mask is aligned to the bottom right.
struct Sequence {
  int64_t q_start = 0, seqlen_q = 0;  // rows; q_start: of the flat q, or batch * seqlen_q
  int64_t k_start = 0, seqlen_k = 0;  // k_start: of the flat k and v; unused where paged
};

/// Where the rows of q, k or v are in their storage, as declared: element (batch or page, row,
/// head, c) is at offset + batch * batch_stride + row * row_stride + head * head_stride + c *
/// dim_stride. In elements.
struct Rows {
  int64_t offset = 0, batch_stride = 0, row_stride = 0, head_stride = 0, dim_stride = 1;
};

/// The question as the caller meant it: declared strides in 64 bits, the block table's true row
/// stride, the windows as given. The reference answers this one; the kernel runs on LaunchParams.
/// Plain numbers read out of a case that passed the contract; the elements stay in Inputs.
struct AttentionProblem {
  Dtype dtype = Dtype::kF16;  // of q, k, v, and of out unless it is a dump
  int64_t num_heads = 0, num_heads_k = 0,
          head_dim = 0;  // head h reads h / (num_heads / num_heads_k)
  std::vector<Sequence> sequences;
  int64_t total_q = 0;  // rows of q over all sequences, uncovered ones included

  Rows q, k, v;
  bool is_varlen = false;  // lse is [num_heads, total_q]; otherwise [batch, num_heads, seqlen_q]
  bool is_paged = false;
  int64_t page_block_size = 0;
  std::vector<std::vector<int64_t>> block_table;  // [sequence][logical page] -> page of k and v

  float softmax_scale = 1;
  std::optional<float>
      softcap;  // logits c * tanh(scale * q.k / c); nothing: none (also for c <= 0)
  std::optional<int64_t> window_size_left, window_size_right;  // inclusive; nothing: no limit
  std::vector<float> alibi_slopes;    // one a q head; empty: none. Bias -slope * |distance|, or
  bool alibi_is_causal_form = false;  //   + slope * key position (the same up to a constant a row)
  /// [sequence][range] = [begin, end) of absolute positions: pairs with both ends in one range are
  /// visible although causal or a window hides them. They never widen an unlimited mask.
  std::vector<std::vector<std::pair<int64_t, int64_t>>> mm_prefix_ranges;

  Arithmetic arithmetic;

  int64_t batch_size() const { return static_cast<int64_t>(sequences.size()); }
  /// Whether query row i of a sequence may see key j (0 <= j < seqlen_k of that sequence).
  bool is_visible(int64_t sequence, int64_t i, int64_t j) const;
};

}  // namespace flashcheck
