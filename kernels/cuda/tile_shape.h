#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace flashcheck {

/// How a block divides its share of the work. A template argument, so that every loop below has a
/// constant length. In elements unless said.
struct TileShape {
  int head_dim;  // columns of Q and K in shared memory; a smaller head dim is padded with zeros
  int columns;   // of V and O that one block computes: head_dim, or a part of it
  int rows;      // of a query tile: (token, head of the group) pairs
  int keys;      // of a key tile
  int warps;     // each owns rows / warps rows, all keys and all columns

  static constexpr int kStages = 2;  // key tiles in shared memory: one is used while one arrives

  constexpr int num_threads() const { return 32 * warps; }
  /// m16 tiles of a warp. A fragment of K or V that was loaded once serves all of them.
  constexpr int row_tiles() const { return rows / (16 * warps); }
  /// Blocks that share the columns of one query tile; each computes all scores.
  constexpr int column_parts() const { return head_dim / columns; }
  constexpr int shared_bytes() const {
    return 2 * (rows * head_dim + kStages * keys * (head_dim + columns));
  }
  /// f32 accumulators of a thread: O and S.
  constexpr int num_accumulators() const { return row_tiles() * (columns + keys) / 2; }
};

/// What every number is limited by:
///
/// - Registers: 255 a thread; O and S live there, and addresses and fragments take about 60.
///
/// - Shared memory: 99 KiB a block on sm_86, sm_89 and sm_120, 163 KiB on sm_80, 227 KiB on sm_90.
///
/// - Reuse: with 16 rows a warp, loading fragments costs as many cycles as multiplying them (128
///   bytes and 1,024 multiply-adds a cycle on sm_80); 32 rows halve it.
///
/// Two shapes a head dim. "Many" is for prefill; "few", of 16 rows, for decode, where a launch
/// waits for memory: a warp a block, so that as many blocks as possible keep copies in flight and
/// no warp idles beside 16 rows.
inline constexpr int kRowsOfFew = 16;
inline constexpr std::array kTileShapes = {
    //        head_dim columns rows keys warps
    TileShape{64, 64, 128, 64, 4},    // many: 48 KiB; 128 accumulators
    TileShape{64, 64, 16, 64, 1},     // few:  34 KiB
    TileShape{128, 128, 128, 32, 4},  // many: 64 KiB; 160 accumulators; 64 keys would make 192
    TileShape{128, 128, 16, 32, 1},   // few:  36 KiB
    TileShape{256, 256, 64, 32, 4},   // many: 96 KiB; 144 accumulators; 32 rows a warp would be 288
    TileShape{256, 256, 16, 16, 1},   // few:  40 KiB
    TileShape{512, 256, 32, 16, 2},   // many: 80 KiB; O in two parts: 512 columns are 256 registers
    TileShape{512, 256, 16, 16, 1},   // few:  64 KiB
};

constexpr bool is_sound(const TileShape& shape) {
  return shape.head_dim % 64 == 0                 // the swizzle's period
         && shape.head_dim % shape.columns == 0   // whole parts
         && shape.columns % 64 == 0               //
         && shape.rows % (16 * shape.warps) == 0  // whole m16 tiles
         && shape.keys % 16 == 0                  // whole k16 steps of P V
         && shape.num_accumulators() <= 192       // or O spills
         && shape.shared_bytes() <= 99 * 1024;    // the smallest opt-in limit of sm_80 and later
}
static_assert([] {
  for (size_t i = 0; i < kTileShapes.size(); ++i) {
    const TileShape& shape = kTileShapes[i];
    const bool is_few = i % 2 == 1;
    if (!is_sound(shape) || (shape.rows == kRowsOfFew) != is_few) return false;
    if (is_few && shape.head_dim != kTileShapes[i - 1].head_dim) return false;
  }
  return true;
}());

/// Of kTileShapes: for this head dim (8 to 512), and this many rows a (sequence, kv head) at most.
constexpr size_t shape_index(int64_t head_dim, int64_t max_rows) {
  size_t index = 0;
  while (kTileShapes[index].head_dim < head_dim) index += 2;
  return max_rows <= kRowsOfFew ? index + 1 : index;
}

}  // namespace flashcheck
