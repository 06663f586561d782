#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>

#include "kernels/cuda/ptx.h"

namespace flashcheck {

struct alignas(16) Chunk {
  uint32_t pairs[4];  // of 16-bit elements, the lower one in the low half
};

/// A tile [kRows][kColumns] of 16-bit elements in shared memory, in chunks of 8 elements (16
/// bytes): what one lane of ldmatrix or cp.async moves.
///
/// Chunk c of row r lies in slot c ^ (r % 8) of its row. Eight slots span all 32 banks, so the
/// eight rows of a matrix, read at one c, and the eight chunks of a row segment, written at one r,
/// each touch every bank once: no access in chunks has a bank conflict.
template <typename T, int kRows, int kColumns>
struct SharedTile {
  static constexpr int kChunks = kColumns / 8;
  static constexpr int kBytes = kRows * kColumns * 2;
  static_assert(sizeof(T) == 2 && kColumns % 64 == 0);

  std::byte* first;  // 128-byte aligned

  __device__ std::byte* chunk(int row, int c) const {
    return first + (row * kChunks + (c ^ (row & 7))) * 16;
  }
  __device__ const T& element(int row, int column) const {
    return reinterpret_cast<const T*>(chunk(row, column / 8))[column % 8];
  }
};

/// Whether rows can be copied in chunks: where the first one is and all steps between rows are
/// multiples of 16 bytes. `steps`: all of them, in elements, or-ed.
template <typename T>
__device__ bool is_chunk_aligned(const T* first, int64_t steps) {
  return reinterpret_cast<uintptr_t>(first) % 16 == 0 && steps % 8 == 0;
}

/// Starts to fill a row of a tile: with the first num_columns (a multiple of 8) elements at `from`,
/// the rest of it, or all of it where `from` is null, with zeros. kLanes neighbouring lanes share
/// the row. It is there behind a cp_async_wait and a barrier. A row that is not chunk-aligned is
/// copied element by element, without cp.async.
template <int kLanes, bool kIsAligned, typename T, int kRows, int kColumns>
__device__ void start_loading_row(const SharedTile<T, kRows, kColumns>& tile, int row,
                                  const T* from, int num_columns) {
  constexpr int kChunks = SharedTile<T, kRows, kColumns>::kChunks;
  static_assert(kChunks % kLanes == 0);
#pragma unroll
  for (int i = 0; i < kChunks / kLanes; ++i) {
    const int c = static_cast<int>(threadIdx.x % kLanes) + i * kLanes;
    const bool is_inside = from != nullptr && c * 8 < num_columns;
    if constexpr (kIsAligned) {
      ptx::cp_async_16(tile.chunk(row, c), is_inside ? from + c * 8 : nullptr, is_inside ? 16 : 0);
    } else {
      T* to = reinterpret_cast<T*>(tile.chunk(row, c));
#pragma unroll 1
      for (int e = 0; e < 8; ++e) to[e] = is_inside ? from[c * 8 + e] : T{};
    }
  }
}

}  // namespace flashcheck
