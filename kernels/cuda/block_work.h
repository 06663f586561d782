#pragma once

#include <cuda_runtime.h>

#include <cstdint>

#include "kernels/cuda/split_plan.h"

namespace flashcheck {

/// What one block computes. Blocks are numbered with the query tile running fastest, so that blocks
/// that run together share K and V in the L2, and the last tile first: behind a causal mask it has
/// the most keys.
struct BlockWork {
  uint32_t sequence, kv_head, part, split, tile;

  __device__ BlockWork(uint32_t block, const SplitPlan& plan, uint32_t num_kv_heads,
                       uint32_t num_parts) {
    tile = plan.tiles_per_sequence - 1 - block % plan.tiles_per_sequence;
    block /= plan.tiles_per_sequence;
    split = block % plan.num_splits;
    block /= plan.num_splits;
    part = block % num_parts;
    block /= num_parts;
    kv_head = block % num_kv_heads;
    sequence = block / num_kv_heads;
  }
};

}  // namespace flashcheck
