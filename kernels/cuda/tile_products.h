#pragma once

#include <cuda_runtime.h>

#include <cstdint>
#include <type_traits>

#include "kernels/cuda/ptx.h"
#include "kernels/cuda/query_rows.h"
#include "kernels/cuda/score_tile.h"
#include "kernels/cuda/shared_tile.h"
#include "kernels/cuda/tile_shape.h"
#include "kernels/half.h"
#include "kernels/mask.h"

namespace flashcheck {

// What a warp holds of its rows, as mma fragments (ptx::mma_m16n8k16): [m16 tile][n8 or k16 tile].
template <TileShape kShape>
using ScoreFragments = float[kShape.row_tiles()][kShape.keys / 8][4];
template <TileShape kShape>
using OutputFragments = float[kShape.row_tiles()][kShape.columns / 8][4];
template <TileShape kShape>
using WeightFragments = uint32_t[kShape.row_tiles()][kShape.keys / 16][4];  // P, rounded to T

template <typename T, TileShape kShape>
using QTile = SharedTile<T, kShape.rows, kShape.head_dim>;
template <typename T, TileShape kShape>
using KTile = SharedTile<T, kShape.keys, kShape.head_dim>;
template <typename T, TileShape kShape>
using VTile = SharedTile<T, kShape.keys, kShape.columns>;

/// S [row_tiles * 16][keys] = Q K^T over the warp's rows.
template <TileShape kShape, typename T>
__device__ void multiply_qk(const QTile<T, kShape>& q, const KTile<T, kShape>& k, int first_row,
                            ScoreFragments<kShape>& s) {
  const int lane = static_cast<int>(threadIdx.x % 32);
#pragma unroll
  for (int m = 0; m < kShape.row_tiles(); ++m) {
#pragma unroll
    for (int n = 0; n < kShape.keys / 8; ++n) {
#pragma unroll
      for (int e = 0; e < 4; ++e) s[m][n][e] = 0;
    }
  }
#pragma unroll
  for (int c = 0; c < kShape.head_dim / 16; ++c) {
    uint32_t a[kShape.row_tiles()][4];
#pragma unroll
    for (int m = 0; m < kShape.row_tiles(); ++m) {
      ptx::ldmatrix_x4(a[m], q.chunk(first_row + m * 16 + lane % 16, 2 * c + lane / 16));
    }
#pragma unroll
    for (int n = 0; n < kShape.keys / 16; ++n) {
      uint32_t b[4];  // keys 0-7 of dims 0-7 and 8-15, then keys 8-15
      ptx::ldmatrix_x4(b, k.chunk(n * 16 + lane / 16 * 8 + lane % 8, 2 * c + lane / 8 % 2));
#pragma unroll
      for (int m = 0; m < kShape.row_tiles(); ++m) {
        ptx::mma_m16n8k16<T>(s[m][2 * n], a[m], b[0], b[1]);
        ptx::mma_m16n8k16<T>(s[m][2 * n + 1], a[m], b[2], b[3]);
      }
    }
  }
}

/// An accumulator of S has the places of an operand of P V: two n8 tiles are one k16 tile.
template <TileShape kShape, typename T>
__device__ void round_weights(const ScoreFragments<kShape>& s, WeightFragments<kShape>& p) {
#pragma unroll
  for (int m = 0; m < kShape.row_tiles(); ++m) {
#pragma unroll
    for (int n = 0; n < kShape.keys / 8; ++n) {
      p[m][n / 2][n % 2 * 2] = ptx::pack<T>(s[m][n][0], s[m][n][1]);
      p[m][n / 2][n % 2 * 2 + 1] = ptx::pack<T>(s[m][n][2], s[m][n][3]);
    }
  }
}

/// Which pairs of the warp's rows and a tile's keys count.
struct VisiblePairs {
  const Mask& mask;
  const QueryRows& rows;
  int first_row;
  int64_t first_key;
};

/// Collective: whether a tile holds an infinity or NaN.
template <typename T, int kRows, int kColumns>
__device__ bool has_nonfinite(const SharedTile<T, kRows, kColumns>& tile) {
  constexpr uint32_t kExponent = std::is_same_v<T, Half> ? 0x7C00u : 0x7F80u;
  bool any = false;
#pragma unroll 4
  for (int n = static_cast<int>(threadIdx.x % 32); n < kRows * tile.kChunks; n += 32) {
    const Chunk chunk = *reinterpret_cast<const Chunk*>(tile.first + n * 16);
#pragma unroll
    for (const uint32_t pair : chunk.pairs) {
      any |= (pair & kExponent) == kExponent;
      any |= (pair >> 16 & kExponent) == kExponent;
    }
  }
  return __any_sync(0xFFFFFFFFu, any) != 0;
}

/// O += P V over visible pairs alone, without mma: V holds an infinity or NaN that some row may not
/// see, and 0 times either is NaN.
template <TileShape kShape, typename T>
__device__ void add_visible_pv(const WeightFragments<kShape>& p, const VTile<T, kShape>& v,
                               const VisiblePairs& pairs, OutputFragments<kShape>& o) {
  const int lane = static_cast<int>(threadIdx.x % 32);
#pragma unroll
  for (int k16 = 0; k16 < kShape.keys / 16; ++k16) {
#pragma unroll 1
    for (int key = 0; key < 16; ++key) {
      const int owner = lane / 4 * 4 + key % 8 / 2;  // of this quad: the lane that holds P's key
#pragma unroll
      for (int m = 0; m < kShape.row_tiles(); ++m) {
#pragma unroll
        for (int e = 0; e < 4; e += 2) {
          const uint32_t mine = key < 8 ? p[m][k16][e / 2] : p[m][k16][2 + e / 2];
          const uint32_t both = __shfl_sync(0xFFFFFFFFu, mine, owner);
          const float weight = to_float(T{static_cast<uint16_t>(key % 2 == 0 ? both : both >> 16)});
          const int64_t row_p = pairs.rows.p(pairs.first_row + m * 16 + row_in_tile(e));
          if (!pairs.mask.is_visible(row_p, pairs.first_key + k16 * 16 + key)) continue;
#pragma unroll
          for (int n = 0; n < kShape.columns / 8; ++n) {
#pragma unroll
            for (int i = e; i < e + 2; ++i) {
              o[m][n][i] += weight * to_float(v.element(k16 * 16 + key, n * 8 + column_in_tile(i)));
            }
          }
        }
      }
    }
  }
}

/// O [row_tiles * 16][columns] += P V over the warp's rows.
template <TileShape kShape, typename T>
__device__ void multiply_pv(const WeightFragments<kShape>& p, const VTile<T, kShape>& v,
                            OutputFragments<kShape>& o) {
  const int lane = static_cast<int>(threadIdx.x % 32);
#pragma unroll
  for (int k = 0; k < kShape.keys / 16; ++k) {
#pragma unroll
    for (int n = 0; n < kShape.columns / 16; ++n) {
      uint32_t b[4];  // columns 0-7 of keys 0-7 and 8-15, then columns 8-15
      ptx::ldmatrix_x4_trans(b, v.chunk(k * 16 + lane % 16, 2 * n + lane / 16));
#pragma unroll
      for (int m = 0; m < kShape.row_tiles(); ++m) {
        ptx::mma_m16n8k16<T>(o[m][2 * n], p[m][k], b[0], b[1]);
        ptx::mma_m16n8k16<T>(o[m][2 * n + 1], p[m][k], b[2], b[3]);
      }
    }
  }
}

}  // namespace flashcheck
