#pragma once

#include <cstdint>

#include "kernels/attention_params.h"
#include "kernels/host_device.h"
#include "kernels/mask.h"

namespace flashcheck {

struct PartialSoftmax {
  float max, sum;  // max in base 2
};

/// How a launch is cut into blocks, and where blocks that see a part of the keys leave what they
/// found. Owns nothing.
///
/// A query tile's keys are cut into num_splits runs of whole key tiles; split s leaves, for every
/// (row, head) of the output, its unnormalised row of O and its softmax's max and sum. The combine
/// kernel adds them up in the order of s: the same algebra as between tiles, and the same bytes
/// whatever order blocks ran in.
struct SplitPlan {
  uint32_t tiles_per_sequence = 1;  // query tiles of a (sequence, kv head), of the longest sequence
  uint32_t num_splits = 1;
  int64_t num_rows = 0;        // of all sequences: total_q, or b * seqlen_q
  float* partial_o = nullptr;  // [num_splits][num_rows][h][d]; null if num_splits is 1
  PartialSoftmax* partial_softmax = nullptr;  // [num_splits][num_rows][h]
};

constexpr int kCombineWarps = 4;  // of a block of the combine kernel, a (row, head) each
constexpr int kMaxSplits = 128;   // four a lane

/// Where a sequence's rows begin among the num_rows of all.
FLASHCHECK_HOST_DEVICE inline int64_t first_row_of(const AttentionParams& params,
                                                   int64_t sequence) {
  return params.cu_seqlens_q != nullptr ? params.cu_seqlens_q[sequence]
                                        : sequence * int64_t{params.launch.seqlen_q};
}

/// The keys of split s: whole key tiles of `visited`, the same number in every split but the last.
FLASHCHECK_HOST_DEVICE inline KeyRange keys_of_split(const KeyRange& visited, uint32_t s,
                                                     uint32_t num_splits, int keys_per_tile) {
  const int64_t num_keys = visited.end > visited.begin ? visited.end - visited.begin : 0;
  const int64_t tiles = (num_keys + keys_per_tile - 1) / keys_per_tile;
  const int64_t keys_a_split = (tiles + num_splits - 1) / num_splits * keys_per_tile;
  KeyRange keys{visited.begin + s * keys_a_split, visited.begin + (s + 1) * keys_a_split};
  if (keys.end > visited.end) keys.end = visited.end;
  return keys;
}

}  // namespace flashcheck
