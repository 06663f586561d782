#pragma once

#include <cuda_runtime.h>

#include <algorithm>
#include <cstdint>

#include "kernels/attention_params.h"
#include "kernels/cuda/block_work.h"
#include "kernels/cuda/query_rows.h"
#include "kernels/cuda/shared_tile.h"
#include "kernels/cuda/tile_products.h"
#include "kernels/cuda/tile_shape.h"
#include "kernels/kv_accessor.h"
#include "kernels/sequence_extent.h"

namespace flashcheck {

// How a block's threads share the loading of tiles: as many neighbouring lanes a row as it has
// chunks (of V, where K's rows are longer), each thread in every kRowStep-th row.

/// The block's query rows, to shared memory. Padding is zeros.
template <typename T, TileShape kShape>
__device__ void start_loading_q(const QTile<T, kShape>& q, const AttentionParams& params,
                                const SequenceExtent& extent, const QueryRows& rows) {
  constexpr int kLanes = std::min(QTile<T, kShape>::kChunks, kShape.num_threads());
  constexpr int kRowStep = kShape.num_threads() / kLanes;
  const LaunchParams& launch = params.launch;
  const int64_t row_stride = launch.q_row_stride, head_stride = launch.q_head_stride;
  const T* first = static_cast<const T*>(params.q) + extent.q_offset;
  const bool is_aligned = is_chunk_aligned(first, row_stride | head_stride);
#pragma unroll 1
  for (int r = static_cast<int>(threadIdx.x) / kLanes; r < kShape.rows; r += kRowStep) {
    const T* from =
        r < rows.num ? first + rows.token(r) * row_stride + rows.head(r) * head_stride : nullptr;
    if (is_aligned) {
      start_loading_row<kLanes, true>(q, r, from, static_cast<int>(launch.d));
    } else {
      start_loading_row<kLanes, false>(q, r, from, static_cast<int>(launch.d));
    }
  }
}

/// Where a block's K and V are, and how to start loading a tile of both.
template <typename T, TileShape kShape>
struct KvLoader {
  KvAccessor<T> keys, values;  // values: of the block's columns
  int head_dim, num_columns;   // that exist: the rest is padding
  bool is_aligned;

  __device__ KvLoader(const AttentionParams& params, const BlockWork& work,
                      const SequenceExtent& extent)
      : keys(key_rows<T>(params, work.sequence, work.kv_head, extent)),
        values(value_rows<T>(params, work.sequence, work.kv_head, extent)),
        head_dim(static_cast<int>(params.launch.d)),
        num_columns(head_dim - static_cast<int>(work.part) * kShape.columns) {
    values.first += work.part * kShape.columns;
    is_aligned = is_chunk_aligned(keys.first, keys.row_stride | keys.page_stride) &&
                 is_chunk_aligned(values.first, values.row_stride | values.page_stride);
  }

  /// Keys from first_key on, of which num_keys exist: the rest is zeros, and not looked for.
  __device__ void start(const KTile<T, kShape>& k, const VTile<T, kShape>& v, int64_t first_key,
                        int num_keys) const {
    if (is_aligned) {
      start_rows<true>(k, v, first_key, num_keys);
    } else {
      start_rows<false>(k, v, first_key, num_keys);
    }
  }

 private:
  /// Page tables are read for a few rows at a time, before any of these rows is copied: a copy that
  /// waits for its own page would wait for the memory twice.
  template <bool kIsAligned>
  __device__ void start_rows(const KTile<T, kShape>& k, const VTile<T, kShape>& v,
                             int64_t first_key, int num_keys) const {
    constexpr int kLanes = std::min(VTile<T, kShape>::kChunks, kShape.num_threads());
    constexpr int kRowStep = kShape.num_threads() / kLanes;
    constexpr int kBatch = std::min(4, kShape.keys / kRowStep);
    static_assert(kShape.keys % (kBatch * kRowStep) == 0);
#pragma unroll 1
    for (int begin = static_cast<int>(threadIdx.x) / kLanes; begin < kShape.keys;
         begin += kBatch * kRowStep) {
      KvPlace places[kBatch];
#pragma unroll
      for (int i = 0; i < kBatch; ++i) {
        const int row = begin + i * kRowStep;
        if (row < num_keys) places[i] = keys.place(first_key + row);
      }
#pragma unroll
      for (int i = 0; i < kBatch; ++i) {
        const int row = begin + i * kRowStep;
        const bool exists = row < num_keys;
        start_loading_row<kLanes, kIsAligned>(k, row, exists ? keys.row(places[i]) : nullptr,
                                              head_dim);
        start_loading_row<kLanes, kIsAligned>(v, row, exists ? values.row(places[i]) : nullptr,
                                              num_columns);
      }
    }
  }
};

}  // namespace flashcheck
