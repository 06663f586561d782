#pragma once

#include <cstdint>
#include <span>

#include "tests/simt/site.h"
#include "tests/simt/warp.h"

namespace simt {

// The words that the lanes of a warp or a block say together, said by the lane that runs. Inline:
// see Fiber::switch_between.

struct Shuffled {
  uint64_t bits;
  int source;  // within the warp
  uint64_t result;
};

struct Voted {
  bool predicate;
  uint32_t result;
};

extern const Collective kShuffle, kShuffleXor, kBallot, kAny, kSyncWarp;
extern const Collective kSyncThreads, kSyncThreadsOr;

/// The bits of lane `source` of each group of `width` lanes.
inline uint64_t shuffle(uint32_t mask, uint64_t bits, int source, int width, Site site) {
  const int group = current_lane->index & ~(width - 1);
  Shuffled operands{bits, group | (source & (width - 1)), 0};
  current_lane->meet(kShuffle, mask, &operands, site);
  return operands.result;
}

inline uint64_t shuffle_xor(uint32_t mask, uint64_t bits, int lane_mask, int width, Site site) {
  const int last_of_group = current_lane->index | (width - 1);
  const int source = current_lane->index ^ lane_mask;
  Shuffled operands{bits, source > last_of_group ? current_lane->index : source, 0};
  current_lane->meet(kShuffleXor, mask, &operands, site);
  return operands.result;
}

/// A bit for each lane of `mask` whose predicate holds.
inline uint32_t ballot(uint32_t mask, bool predicate, Site site) {
  Voted operands{predicate, 0};
  current_lane->meet(kBallot, mask, &operands, site);
  return operands.result;
}

inline bool any(uint32_t mask, bool predicate, Site site) {
  Voted operands{predicate, 0};
  current_lane->meet(kAny, mask, &operands, site);
  return operands.result != 0;
}

inline void sync_warp(uint32_t mask, Site site) {
  current_lane->meet(kSyncWarp, mask, nullptr, site);
}

inline void sync_threads(Site site) {
  Voted operands{false, 0};
  current_lane->meet_block(kSyncThreads, &operands, site);
}

/// Whether the predicate holds for any thread of the block.
inline bool sync_threads_or(bool predicate, Site site) {
  Voted operands{predicate, 0};
  current_lane->meet_block(kSyncThreadsOr, &operands, site);
  return operands.result != 0;
}

/// Gives all lanes of `warps`, which wait at one barrier, what it returns.
void complete_barrier(std::span<Warp> warps);

}  // namespace simt
