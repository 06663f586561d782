#pragma once

#include <cstdint>
#include <vector>

#include "kernels/attention_params.h"
#include "kernels/cpu/work_list.h"

namespace flashcheck {

constexpr int kBlockM = 64;  // query rows (lanes) of a tile
constexpr int kBlockN = 64;  // key rows of a tile

/// What one thread needs to compute query tiles; reused from tile to tile. All f32.
struct Workspace {
  explicit Workspace(int64_t head_dim)
      : q_t(static_cast<size_t>(head_dim * kBlockM)),
        o_t(static_cast<size_t>(head_dim * kBlockM)),
        kv(static_cast<size_t>(head_dim * kBlockN)),
        s_t(static_cast<size_t>(kBlockN * kBlockM)) {}

  std::vector<float> q_t;  // [head_dim][kBlockM]
  std::vector<float> o_t;  // [head_dim][kBlockM], not yet divided by the row sums
  std::vector<float> kv;   // [kBlockN][head_dim]: K's rows of a tile, then V's
  std::vector<float> s_t;  // [kBlockN][kBlockM]: scores, then probabilities
};

/// Computes one query tile and writes its rows of out and lse. T: float, Half or BFloat16, the type
/// of q, k, v and out.
template <typename T>
void attend_query_tile(const AttentionParams& params, const WorkItem& item, Workspace& workspace);

}  // namespace flashcheck
