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

#include <cstdint>

#include "kernels/attention_params.h"
#include "kernels/cuda/block_work.h"
#include "kernels/cuda/output_row.h"
#include "kernels/cuda/ptx.h"
#include "kernels/cuda/query_rows.h"
#include "kernels/cuda/row_softmax.h"
#include "kernels/cuda/score_tile.h"
#include "kernels/cuda/shared_tile.h"
#include "kernels/cuda/split_plan.h"
#include "kernels/cuda/tile_products.h"
#include "kernels/cuda/tile_shape.h"
#include "kernels/kv_accessor.h"
#include "kernels/logit.h"
#include "kernels/mask.h"
#include "kernels/sequence_extent.h"

namespace flashcheck {

/// The accessors of a block's K and V, and how to start loading a tile of both.
template <typename T, TileShape kShape>
struct KvLoader {
  KvAccessor<T> keys, values;  // values: of the block's columns
  int head_dim, num_columns;   // that exist: the rest is padding
  bool k_is_aligned, v_is_aligned;

  __device__ KvLoader(const AttentionParams& params, const BlockWork& work,
                      const SequenceExtent& extent)
      : keys(key_rows<T>(params, work.sequence, work.kv_head, extent)),
        values(value_rows<T>(params, work.sequence, work.kv_head, extent)),
        head_dim(static_cast<int>(params.launch.d)),
        num_columns(head_dim - static_cast<int>(work.part) * kShape.columns) {
    values.first += work.part * kShape.columns;
    k_is_aligned = is_chunk_aligned(keys.first, keys.row_stride | keys.page_stride);
    v_is_aligned = is_chunk_aligned(values.first, values.row_stride | values.page_stride);
  }

  __device__ void start(const KTile<T, kShape>& k, const VTile<T, kShape>& v, int64_t first_key,
                        int num_keys) const {
    constexpr int kThreads = kShape.num_threads();
    start_loading<kThreads>(k, num_keys, head_dim, k_is_aligned, keys.first,
                            [&](int row) { return keys.row(first_key + row); });
    start_loading<kThreads>(v, num_keys, num_columns, v_is_aligned, values.first,
                            [&](int row) { return values.row(first_key + row); });
  }
};

/// The block's query rows, to shared memory. Padding is zeros.
template <typename T, TileShape kShape>
__device__ void start_loading_q(const QTile<T, kShape>& q, const AttentionParams& params,
                                const SequenceExtent& extent, const QueryRows& rows) {
  const LaunchParams& launch = params.launch;
  const T* first = static_cast<const T*>(params.q) + extent.q_offset;
  const int64_t row_stride = launch.q_row_stride, head_stride = launch.q_head_stride;
  start_loading<kShape.num_threads()>(
      q, rows.num, static_cast<int>(launch.d), is_chunk_aligned(first, row_stride | head_stride),
      first,
      [&](int r) { return first + rows.token(r) * row_stride + rows.head(r) * head_stride; });
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
  const QTile<T, kShape> q{memory};
  const auto k_tile = [&](int n) {
    return KTile<T, kShape>{memory + q.kBytes + n % kStages * KTile<T, kShape>::kBytes};
  };
  const auto v_tile = [&](int n) {
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
  OutputFragments<kShape> o = {};

  start_loading_q<T, kShape>(q, params, extent, rows);
  for (int n = 0; n < kStages - 1; ++n) start_tile(n);
#pragma unroll 1
  for (int n = 0; n < num_tiles; ++n) {
    ptx::cp_async_wait<kStages - 2>();
    __syncthreads();
    start_tile(n + kStages - 1);
    if (first_row >= rows.num) continue;  // a warp of padding has no more to do than to load

    const int64_t first_key = keys.begin + int64_t{n} * kN;
    const int num_keys = keys_in_tile(n);
    const bool is_masked = num_keys < kN || !mask.is_in_every_window(p_first, p_last, first_key) ||
                           !mask.is_in_every_window(p_first, p_last, first_key + kN - 1);
    ScoreFragments<kShape> s;
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
    const VisiblePairs pairs{mask, rows, first_row, first_key};
    if (is_masked) {
      multiply_pv<true, kShape, T>(p, v_tile(n), pairs, o);
    } else {
      multiply_pv<false, kShape, T>(p, v_tile(n), pairs, o);
    }
  }
  ptx::cp_async_wait<0>();  // where there was no tile, Q is still on its way

  // Worked out anew: the loop has no registers to keep it in.
  const SequenceExtent out_extent = sequence_extent(params, work.sequence);
#pragma unroll
  for (int m = 0; m < kRowTiles; ++m) {
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      softmax[m][half].finish();
      const int r = first_row + m * 16 + row_in_tile(2 * half);
      if (r >= rows.num) continue;
      const OutputRow row{params, plan, out_extent, work.sequence, rows.token(r), rows.head(r)};
      if (plan.partial_o == nullptr) {
        store_row<T>(row, o[m], half, softmax[m][half], work.part);
      } else {
        store_partial_row(row, o[m], half, softmax[m][half], work.part, work.split);
      }
    }
  }
}

}  // namespace flashcheck
