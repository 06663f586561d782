#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

namespace flashcheck {

/// One query tile: `tile` counts the tiles of a (sequence, kv head).
struct WorkItem {
  int64_t sequence = 0, kv_head = 0, tile = 0;
};

/// All query tiles of a launch, numbered through: by sequence, within it by kv head (K and V of one
/// head stay in the cache while its tiles pass), within it by tile.
class WorkList {
 public:
  /// lanes[sequence]: seqlen_q * heads per kv head.
  WorkList(const std::vector<int64_t>& lanes, int64_t num_kv_heads, int64_t lanes_per_tile) {
    first_.reserve(lanes.size() + 1);
    first_.push_back(0);
    tiles_.reserve(lanes.size());
    for (const int64_t n : lanes) {
      tiles_.push_back((n + lanes_per_tile - 1) / lanes_per_tile);
      first_.push_back(first_.back() + tiles_.back() * num_kv_heads);
    }
  }

  int64_t size() const { return first_.back(); }

  WorkItem operator[](int64_t index) const {
    const auto after = std::upper_bound(first_.begin(), first_.end(), index);
    const int64_t sequence = after - first_.begin() - 1;
    const int64_t tiles = tiles_[static_cast<size_t>(sequence)];
    const int64_t within = index - first_[static_cast<size_t>(sequence)];
    return {sequence, within / tiles, within % tiles};
  }

 private:
  std::vector<int64_t> first_;  // [sequences + 1]: index of a sequence's first item
  std::vector<int64_t> tiles_;  // [sequences]: per kv head
};

}  // namespace flashcheck
