#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/attention_params.h"
#include "kernels/cuda/split_plan.h"

namespace flashcheck {

/// The grids of a launch, worked out on the host.
struct LaunchPlan {
  size_t shape = 0;             // index into kTileShapes
  int64_t num_blocks = 0;       // of flash_forward; may exceed what a grid can have
  int64_t num_rows_a_head = 0;  // of tiles, padding included; may exceed 32 bits
  SplitPlan splits;             // without its pointers

  int64_t combine_blocks_per_sequence = 0;
  /// Elements of partial_o and partial_softmax; 0 if nothing is split.
  int64_t num_partial_o = 0, num_partial_softmax = 0;
};

/// What a plan has to know of a device.
struct DeviceSize {
  int num_multiprocessors = 1;
  int shared_bytes = 0;  // of a multiprocessor
};

/// `params` with tables that the host can read. The shape follows from the head dim and from how
/// many rows the longest sequence has; splits are made where the query tiles alone would leave
/// multiprocessors idle, and no more than run at one time.
LaunchPlan plan_launch(const AttentionParams& params, const DeviceSize& device);

}  // namespace flashcheck
