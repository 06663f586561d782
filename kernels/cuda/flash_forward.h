#pragma once

// Flash attention, forward, of one query tile and the keys that its rows see.
//
//   shapes: M = rows, N = keys, D = head_dim, C = columns of TileShape; a warp has M/warps rows
//
//   Q [M][D]                       to shared memory, once
//   m, l [M], O [M][C]             registers: running max, sum, output
//   for every key tile, ascending:
//     K [N][D], V [N][C]           arrive in shared memory while the tile before is used
//     S [M][N] = Q K^T             mma
//     X = logit(S) + bias, -inf where masked
//     P = 2^(X - m'), l = l 2^(m - m') + rowsum(P), m' = max(m, rowmax(X))
//     O = O 2^(m - m') + round(P) V    mma; P goes from accumulators to operands in registers
//   out = O / l, lse = ln 2 m + ln l; or, of a split, O, m and l as they are
//
// One barrier a key tile: behind it, tile n is there for all and tile n - 1 is read by nobody.
//
// As in the CPU kernel a key that no row of the tile sees is not read, and a masked entry
// contributes nothing whatever v holds there.

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>

#include "kernels/attention_params.h"
#include "kernels/cuda/block_work.h"
#include "kernels/cuda/output_row.h"
#include "kernels/cuda/ptx.h"
#include "kernels/cuda/query_rows.h"
#include "kernels/cuda/row_softmax.h"
#include "kernels/cuda/score_tile.h"
#include "kernels/cuda/split_plan.h"
#include "kernels/cuda/tile_loads.h"
#include "kernels/cuda/tile_products.h"
#include "kernels/cuda/tile_shape.h"
#include "kernels/logit.h"
#include "kernels/mask.h"
#include "kernels/sequence_extent.h"

namespace flashcheck {

/// What is left of a query tile's rows when they have seen their keys: to out and lse, or, of a
/// split, to the partial results.
template <typename T, TileShape kShape>
__device__ void store_rows(const AttentionParams& params, const SplitPlan& plan,
                           const BlockWork& work, const QueryRows& rows, int first_row,
                           const OutputFragments<kShape>& o,
                           RowSoftmax (&softmax)[kShape.row_tiles()][2]) {
  const SequenceExtent extent = sequence_extent(params, work.sequence);
#pragma unroll
  for (int m = 0; m < kShape.row_tiles(); ++m) {
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      softmax[m][half].finish();
      const int r = first_row + m * 16 + row_in_tile(2 * half);
      if (r >= rows.num) continue;
      const OutputRow row{params, plan, extent, work.sequence, rows.token(r), rows.head(r)};
      if (plan.partial_o == nullptr) {
        store_row<T>(row, o[m], half, softmax[m][half], work.part);
      } else {
        store_partial_row(row, o[m], half, softmax[m][half], work.part, work.split);
      }
    }
  }
}

/// A launch has one block of num_threads() for every BlockWork and shared_bytes() of dynamic shared
/// memory. kIndex: of kTileShapes (nvcc 13 cannot launch a kernel with a template argument of a
/// class type).
template <typename T, int kIndex>
__global__ void __launch_bounds__(kTileShapes[kIndex].num_threads(), 1)
    flash_forward(const __grid_constant__ AttentionParams params,
                  const __grid_constant__ SplitPlan plan) {
  constexpr TileShape kShape = kTileShapes[kIndex];
  constexpr int kStages = TileShape::kStages, kRowTiles = kShape.row_tiles(), kN = kShape.keys;
  const BlockWork work(blockIdx.x, plan, params.launch.h_k, kShape.column_parts());
  const SequenceExtent extent = sequence_extent(params, work.sequence);
  const QueryRows rows = query_rows(params, extent, work.kv_head, work.tile, kShape.rows);
  if (rows.num <= 0) return;  // a shorter sequence has fewer tiles
  const Mask mask = sequence_mask(params, work.sequence, extent);
  const int64_t p_first = rows.p(0), p_last = rows.p(rows.num - 1);
  const KeyRange keys =
      keys_of_split(mask.visited_keys(p_first, p_last), work.split, plan.num_splits, kN);
  const int num_tiles =
      keys.end > keys.begin ? static_cast<int>((keys.end - keys.begin + kN - 1) / kN) : 0;
  const Logit logit(params.launch.softmax_scale, params.launch.softcap,
                    params.launch.is_causal != 0);
  const KvLoader<T, kShape> kv(params, work, extent);
  const auto keys_in_tile = [&](int n) {
    const int64_t left = keys.end - keys.begin - int64_t{n} * kN;
    return left < kN ? static_cast<int>(left) : kN;
  };

  std::byte* const memory = ptx::dynamic_shared_memory();
  const QTile<T, kShape> q{memory};  // [rows][head_dim], then in kStages stages:
  const auto k_tile = [&](int n) {   // [keys][head_dim]
    return KTile<T, kShape>{memory + q.kBytes + n % kStages * KTile<T, kShape>::kBytes};
  };
  const auto v_tile = [&](int n) {  // [keys][columns]
    return VTile<T, kShape>{k_tile(0).first + kStages * KTile<T, kShape>::kBytes +
                            n % kStages * VTile<T, kShape>::kBytes};
  };
  const auto start_tile = [&](int n) {  // one group of copies a tile, if only an empty one
    if (n < num_tiles)
      kv.start(k_tile(n), v_tile(n), keys.begin + int64_t{n} * kN, keys_in_tile(n));
    ptx::cp_async_commit();
  };

  const int first_row = static_cast<int>(threadIdx.x / 32) * kRowTiles * 16;  // of the warp
  RowSoftmax softmax[kRowTiles][2];  // of rows row_in_tile(0) and row_in_tile(2)
  OutputFragments<kShape> o = {};    // [row_tiles][columns / 8]

  start_loading_q<T, kShape>(q, params, extent, rows);
  for (int n = 0; n < kStages - 1; ++n) start_tile(n);
#pragma unroll 1
  for (int n = 0; n < num_tiles; ++n) {
    ptx::cp_async_wait<kStages - 2>();
    __syncthreads();
    start_tile(n + kStages - 1);
    if (first_row >= rows.num) continue;  // a warp of padding has no more to do than to load

    const int64_t first_key = keys.begin + int64_t{n} * kN;
    // A part of a tile is masked, too: no window goes further than the keys do.
    const bool is_masked = !mask.windows_show(p_first, p_last, first_key, first_key + kN);
    ScoreFragments<kShape> s;  // [row_tiles][keys / 8]: of the warp's rows, like o and p
    multiply_qk<kShape, T>(q, k_tile(n), first_row, s);
#pragma unroll
    for (int m = 0; m < kRowTiles; ++m) {
      scores_to_logits(s[m], logit, mask, params.alibi_slopes, rows, first_row + m * 16, first_key,
                       is_masked);
      const float rescale[2] = {softmax[m][0].template take_tile<0>(s[m]),
                                softmax[m][1].template take_tile<2>(s[m])};
#pragma unroll
      for (int c = 0; c < kShape.columns / 8; ++c) {
#pragma unroll
        for (int e = 0; e < 4; ++e) o[m][c][e] *= rescale[e / 2];
      }
    }
    WeightFragments<kShape> p;
    round_weights<kShape, T>(s, p);
    if (is_masked && has_nonfinite(v_tile(n))) {
      add_visible_pv<kShape, T>(p, v_tile(n), {mask, rows, first_row, first_key}, o);
    } else {
      multiply_pv<kShape, T>(p, v_tile(n), o);
    }
  }
  ptx::cp_async_wait<0>();  // where there was no tile, Q is still on its way

  store_rows<T, kShape>(params, plan, work, rows, first_row, o, softmax);
}

}  // namespace flashcheck
