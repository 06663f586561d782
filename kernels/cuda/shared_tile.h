#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>

#include "kernels/cuda/ptx.h"

namespace flashcheck {

/// A tile [kRows][kColumns] of 16-bit elements in shared memory, in chunks of 8 elements (16
/// bytes): what one lane of ldmatrix or cp.async moves.
///
/// Chunk c of row r lies in slot c ^ (r % 8) of its row. Eight slots span all 32 banks, so the
/// eight rows of a matrix, read at one c, and the eight chunks of a row segment, written at one r,
/// each touch every bank once: no access of the kernel has a bank conflict.
template <typename T, int kRows, int kColumns>
struct SharedTile {
  static constexpr int kChunks = kColumns / 8;
  static constexpr int kBytes = kRows * kColumns * 2;
  static_assert(sizeof(T) == 2 && kColumns % 64 == 0);

  std::byte* first;  // 128-byte aligned

  __device__ std::byte* chunk(int row, int c) const {
    return first + (row * kChunks + (c ^ (row % 8))) * 16;
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

/// The block's threads together start to fill a tile: of row r < num_rows the first num_columns (a
/// multiple of 8) elements from row_of(r), all else zeros. They are there behind a cp_async_wait
/// and a barrier. Other rows are not asked for. Rows that are not chunk-aligned are copied element
/// by element, without cp.async. `first` is any address that is aligned if they are.
template <int kThreads, typename T, int kRows, int kColumns, typename RowOf>
__device__ void start_loading(SharedTile<T, kRows, kColumns> tile, int num_rows, int num_columns,
                              bool is_aligned, const T* first, RowOf row_of) {
  constexpr int kChunks = kColumns / 8;
  static_assert(kRows * kChunks % kThreads == 0);
#pragma unroll 2
  for (int n = static_cast<int>(threadIdx.x); n < kRows * kChunks; n += kThreads) {
    const int row = n / kChunks, c = n % kChunks;
    const bool is_inside = row < num_rows && c * 8 < num_columns;
    const T* from = is_inside ? row_of(row) + c * 8 : first;
    if (is_aligned) {
      ptx::cp_async_16(tile.chunk(row, c), from, is_inside ? 16 : 0);
    } else {
      T* to = reinterpret_cast<T*>(tile.chunk(row, c));
      for (int e = 0; e < 8; ++e) to[e] = is_inside ? from[e] : T{};
    }
  }
}

}  // namespace flashcheck
