// Flash attention over one query tile, online softmax over key tiles, scores transposed.
//
// A query tile is up to kBlockM lanes of one (sequence, kv head): lane = (token, head of the
// group), token-major, so that a decode step fills lanes with the query heads that share K and V.
//
//   Q^T [d][kBlockM]        gathered once, widened to f32
//   m, l [kBlockM]          running maximum and sum
//   O^T [d][kBlockM] = 0
//   for every tile of at most kBlockN of the keys that some lane sees, ascending:
//     S^T [kBlockN][kBlockM] = K Q^T
//     X^T = logit(S^T) + bias, -inf where masked
//     P^T = 2^(X^T - m'), l = l * 2^(m - m') + sum over keys of P^T,  m' = max(m, max X^T)
//     O^T [d][kBlockM] = O^T * 2^(m - m') + V^T round(P^T)
//   out = O^T / l, lse = ln 2 * m + ln l; a lane that saw no key: 0 and +inf
//
// With lanes contiguous, both products and the softmax are plain vertical vector code. Row sums
// take P unrounded, P.V takes it rounded to T, as candle's kernel does (flash_fwd_kernel.h:383-403,
// 445-464).
//
// A key that no lane sees is not read. A masked entry contributes nothing, whatever v holds there.
// candle multiplies its P = 0 with v in every tile it visits (only rows past the sequence's length
// are cleared), so that an infinite or NaN v at a masked position of such a tile makes the row NaN.
// A visible entry always counts: where its P has underflowed to 0 and v is infinite, both give NaN.

#include "kernels/cpu/query_tile.h"

#include <algorithm>
#include <bit>
#include <limits>

#include "kernels/cpu/tile_gemm.h"
#include "kernels/half.h"
#include "kernels/logit.h"
#include "kernels/online_softmax.h"
#include "kernels/sequence_extent.h"

namespace flashcheck {
namespace {

constexpr float kMasked = -std::numeric_limits<float>::infinity();

/// The lanes of a tile: which query rows they are and what they need to know of themselves.
struct Lanes {
  int num = 0;         // of kBlockM; the others are computed with Q = 0 and not stored
  int num_padded = 0;  // to whole panels
  int64_t i[kBlockM];  // query row within the sequence
  int64_t head[kBlockM];
  int64_t p[kBlockM];    // position among the keys, ascending
  float slope[kBlockM];  // ALiBi, in base 2
};

Lanes lanes_of(const AttentionParams& params, const WorkItem& item, const SequenceExtent& extent) {
  const int64_t group = params.launch.h / params.launch.h_k;
  const int64_t first = item.tile * kBlockM;
  Lanes lanes;
  lanes.num = static_cast<int>(std::min<int64_t>(kBlockM, extent.seqlen_q * group - first));
  lanes.num_padded = (lanes.num + kPanelLanes - 1) / kPanelLanes * kPanelLanes;
  for (int lane = 0; lane < lanes.num; ++lane) {
    lanes.i[lane] = (first + lane) / group;
    lanes.head[lane] = item.kv_head * group + (first + lane) % group;
    lanes.p[lane] = extent.position(lanes.i[lane]);
    lanes.slope[lane] = params.alibi_slopes == nullptr
                            ? 0.0f
                            : Logit::in_base_2(params.alibi_slopes[lanes.head[lane]]);
  }
  return lanes;
}

bool has_nonfinite(const float* values, int64_t num) {
  constexpr uint32_t kExponent = 0x7F800000u;
  uint32_t any = 0;
  for (int64_t n = 0; n < num; ++n) {
    any |= static_cast<uint32_t>((std::bit_cast<uint32_t>(values[n]) & kExponent) == kExponent);
  }
  return any != 0;
}

/// One query tile on its way through the keys.
template <typename T>
class QueryTile {
 public:
  QueryTile(const AttentionParams& params, const WorkItem& item, Workspace& workspace)
      : params_(params),
        extent_(sequence_extent(params, item.sequence)),
        mask_(sequence_mask(params, item.sequence, extent_)),
        logit_(params.launch.softmax_scale, params.launch.softcap, params.launch.is_causal != 0),
        keys_(key_rows<T>(params, item.sequence, item.kv_head, extent_)),
        values_(value_rows<T>(params, item.sequence, item.kv_head, extent_)),
        lanes_(lanes_of(params, item, extent_)),
        head_dim_(params.launch.d),
        q_t_(workspace.q_t.data()),
        o_t_(workspace.o_t.data()),
        kv_(workspace.kv.data()),
        s_t_(workspace.s_t.data()) {}

  void run() {
    gather_q();
    softmax_.reset();
    std::fill_n(o_t_, head_dim_ * kBlockM, 0.0f);

    const int64_t p_first = lanes_.p[0], p_last = lanes_.p[lanes_.num - 1];
    const KeyRange visited = mask_.visited_keys(p_first, p_last);
    for (int64_t j = visited.begin; j < visited.end; j += kBlockN) {
      take_key_tile(j, static_cast<int>(std::min<int64_t>(kBlockN, visited.end - j)));
    }
    store();
  }

 private:
  void gather_q() {
    const LaunchParams& launch = params_.launch;
    const T* q = static_cast<const T*>(params_.q) + extent_.q_offset;
    std::fill_n(q_t_, head_dim_ * kBlockM, 0.0f);
    for (int lane = 0; lane < lanes_.num; ++lane) {
      const T* row =
          q + lanes_.i[lane] * launch.q_row_stride + lanes_.head[lane] * launch.q_head_stride;
      for (int64_t c = 0; c < head_dim_; ++c) q_t_[c * kBlockM + lane] = to_float(row[c]);
    }
  }

  void take_key_tile(int64_t first_key, int num_keys) {
    const int d = static_cast<int>(head_dim_);
    widen_rows(keys_, first_key, num_keys);
    TileGemm<kBlockM, false>::multiply(kv_, head_dim_, 1, q_t_, s_t_, num_keys, d,
                                       lanes_.num_padded);
    const bool is_masked = scores_to_logits(first_key, num_keys);
    if (softmax_.take_tile(s_t_, num_keys, lanes_.num_padded, rescale_)) rescale_o();
    if (params_.rounds_p) round_p(num_keys);

    widen_rows(values_, first_key, num_keys);
    if (is_masked && has_nonfinite(kv_, num_keys * head_dim_)) {
      add_visible_pv(first_key, num_keys);
    } else {
      TileGemm<kBlockM, true>::multiply(kv_, 1, head_dim_, s_t_, o_t_, d, num_keys,
                                        lanes_.num_padded);
    }
  }

  void widen_rows(const KvAccessor<T>& rows, int64_t first_key, int num_keys) {
    for (int n = 0; n < num_keys; ++n) {
      const T* row = rows.row(first_key + n);
      float* to = kv_ + n * head_dim_;
      for (int64_t c = 0; c < head_dim_; ++c) to[c] = to_float(row[c]);
    }
  }

  /// Returns whether any entry is masked.
  bool scores_to_logits(int64_t first_key, int num_keys) {
    bool is_masked = false;
    for (int n = 0; n < num_keys; ++n) {
      const int64_t j = first_key + n;
      float* x = s_t_ + n * kBlockM;
      for (int lane = 0; lane < lanes_.num_padded; ++lane) x[lane] = logit_(x[lane]);
      if (params_.alibi_slopes != nullptr) {
        for (int lane = 0; lane < lanes_.num; ++lane) {
          x[lane] += logit_.alibi_bias(lanes_.slope[lane], lanes_.p[lane], j);
        }
      }
      if (mask_.windows_show(lanes_.p[0], lanes_.p[lanes_.num - 1], j, j + 1)) continue;
      for (int lane = 0; lane < lanes_.num; ++lane) {
        if (mask_.is_visible(lanes_.p[lane], j)) continue;
        x[lane] = kMasked;
        is_masked = true;
      }
    }
    return is_masked;
  }

  void rescale_o() {
    for (int64_t c = 0; c < head_dim_; ++c) {
      float* o = o_t_ + c * kBlockM;
      for (int lane = 0; lane < lanes_.num_padded; ++lane) o[lane] *= rescale_[lane];
    }
  }

  void round_p(int num_keys) {
    for (int n = 0; n < num_keys; ++n) {
      float* p = s_t_ + n * kBlockM;
      for (int lane = 0; lane < lanes_.num_padded; ++lane) p[lane] = round_to<T>(p[lane]);
    }
  }

  /// O^T += V^T P^T over visible entries alone, in the same order: V holds an infinity or NaN that
  /// some lane does not see, and 0 times either is NaN.
  void add_visible_pv(int64_t first_key, int num_keys) {
    for (int n = 0; n < num_keys; ++n) {
      const float* v = kv_ + n * head_dim_;
      for (int lane = 0; lane < lanes_.num; ++lane) {
        if (!mask_.is_visible(lanes_.p[lane], first_key + n)) continue;
        const float p = s_t_[n * kBlockM + lane];
        for (int64_t c = 0; c < head_dim_; ++c) o_t_[c * kBlockM + lane] += p * v[c];
      }
    }
  }

  void store() {
    const LaunchParams& launch = params_.launch;
    T* out = static_cast<T*>(params_.out) + extent_.out_offset;
    for (int lane = 0; lane < lanes_.num; ++lane) {
      const float factor = softmax_.inverse_sum(lane);
      T* row =
          out + lanes_.i[lane] * launch.o_row_stride + lanes_.head[lane] * launch.o_head_stride;
      for (int64_t c = 0; c < head_dim_; ++c) {
        row[c] = from_float<T>(o_t_[c * kBlockM + lane] * factor);
      }
      if (params_.lse == nullptr) continue;
      params_
          .lse[extent_.lse_offset + lanes_.head[lane] * extent_.lse_head_stride + lanes_.i[lane]] =
          softmax_.lse(lane);
    }
  }

  const AttentionParams& params_;
  const SequenceExtent extent_;
  const Mask mask_;
  const Logit logit_;
  const KvAccessor<T> keys_, values_;
  const Lanes lanes_;
  const int64_t head_dim_;

  float* const q_t_;
  float* const o_t_;
  float* const kv_;
  float* const s_t_;
  OnlineSoftmax<kBlockM> softmax_;
  float rescale_[kBlockM];
};

}  // namespace

template <typename T>
void attend_query_tile(const AttentionParams& params, const WorkItem& item, Workspace& workspace) {
  QueryTile<T>(params, item, workspace).run();
}

template void attend_query_tile<float>(const AttentionParams&, const WorkItem&, Workspace&);
template void attend_query_tile<Half>(const AttentionParams&, const WorkItem&, Workspace&);
template void attend_query_tile<BFloat16>(const AttentionParams&, const WorkItem&, Workspace&);

}  // namespace flashcheck
