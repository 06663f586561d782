#include "kernels/cuda/launch_plan.h"

#include <algorithm>

#include "kernels/cuda/tile_shape.h"
#include "kernels/sequence_extent.h"

namespace flashcheck {
namespace {

constexpr int64_t kWarpsPerMultiprocessor = 8;  // what registers allow: 255 a thread
constexpr int64_t kReservedBytes = 1024;        // of shared memory, a block
constexpr int64_t kMinTilesASplit = 4;  // fewer, and loading Q and combining cost more than is won

int64_t divide_up(int64_t a, int64_t b) { return (a + b - 1) / b; }

/// Blocks that run at the same time; at least one a multiprocessor.
int64_t concurrent_blocks(const TileShape& shape, const DeviceSize& device) {
  const int64_t fit = std::min(kWarpsPerMultiprocessor / shape.warps,
                               device.shared_bytes / (shape.shared_bytes() + kReservedBytes));
  return device.num_multiprocessors * std::max<int64_t>(1, fit);
}

}  // namespace

LaunchPlan plan_launch(const AttentionParams& params, const DeviceSize& device) {
  const LaunchParams& launch = params.launch;
  const int64_t group = launch.h / launch.h_k;
  int64_t max_seqlen_q = 0, max_keys = 0, num_rows = 0;
  for (uint32_t sequence = 0; sequence < launch.b; ++sequence) {
    const SequenceExtent extent = sequence_extent(params, sequence);
    if (extent.seqlen_q == 0) continue;
    const KeyRange keys =
        sequence_mask(params, sequence, extent)
            .visited_keys(extent.position(0), extent.position(extent.seqlen_q - 1));
    max_seqlen_q = std::max(max_seqlen_q, extent.seqlen_q);
    max_keys = std::max(max_keys, keys.end - keys.begin);
    num_rows = std::max(num_rows, first_row_of(params, sequence) + extent.seqlen_q);
  }

  LaunchPlan plan;
  plan.shape = shape_index(launch.d, max_seqlen_q * group);
  const TileShape& shape = kTileShapes[plan.shape];
  const int64_t tiles = divide_up(max_seqlen_q * group, shape.rows);
  const int64_t blocks = int64_t{launch.b} * launch.h_k * shape.column_parts() * tiles;
  const int64_t most =
      std::min<int64_t>(kMaxSplits, divide_up(max_keys, shape.keys) / kMinTilesASplit);
  const int64_t num_splits =
      blocks == 0 ? 1
                  : std::max<int64_t>(1, std::min(concurrent_blocks(shape, device) / blocks, most));

  plan.num_blocks = blocks * num_splits;
  plan.num_rows_a_head = tiles * shape.rows;
  plan.splits.tiles_per_sequence = static_cast<uint32_t>(tiles);
  plan.splits.num_splits = static_cast<uint32_t>(num_splits);
  plan.splits.num_rows = num_rows;
  if (num_splits == 1) return plan;
  plan.combine_blocks_per_sequence = divide_up(max_seqlen_q * launch.h, kCombineWarps);
  plan.num_partial_softmax = num_splits * num_rows * launch.h;
  plan.num_partial_o = num_splits * num_rows * launch.h * launch.d;
  return plan;
}

}  // namespace flashcheck
