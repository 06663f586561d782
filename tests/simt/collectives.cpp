#include "tests/simt/collectives.h"

#include <bit>

#include "tests/simt/error.h"

namespace simt {
namespace {

struct Shuffled {
  uint64_t bits;
  int source;  // within the warp
  uint64_t result;
};

struct Voted {
  bool predicate;
  uint32_t result;
};

/// The lanes of a mask, one after the other.
template <typename Visit>
void for_each_lane(uint32_t mask, Visit visit) {
  for (uint32_t rest = mask; rest != 0; rest &= rest - 1) visit(std::countr_zero(rest));
}

void perform_shuffle(Warp& warp, uint32_t mask) {
  for_each_lane(mask, [&](int i) {
    auto& mine = warp.operands<Shuffled>(i);
    if (mine.source < 0 || mine.source >= kWarpSize || (mask >> mine.source & 1u) == 0) {
      const Arrival& arrival = warp.lane(i).arrival;
      throw Error(warp.lane(i).name(arrival.collective->name, arrival.site) +
                  "asks for the value of lane " + std::to_string(mine.source) +
                  ", which is not among those that say it");
    }
    mine.result = warp.operands<Shuffled>(mine.source).bits;
  });
}

void perform_ballot(Warp& warp, uint32_t mask) {
  uint32_t votes = 0;
  for_each_lane(
      mask, [&](int i) { votes |= static_cast<uint32_t>(warp.operands<Voted>(i).predicate) << i; });
  for_each_lane(mask, [&](int i) { warp.operands<Voted>(i).result = votes; });
}

constexpr Collective kShuffle{"__shfl_sync", &perform_shuffle};
constexpr Collective kShuffleXor{"__shfl_xor_sync", &perform_shuffle};
constexpr Collective kBallot{"__ballot_sync", &perform_ballot};
constexpr Collective kAny{"__any_sync", &perform_ballot};
constexpr Collective kSyncWarp{"__syncwarp", nullptr};
constexpr Collective kSyncThreads{"__syncthreads", nullptr};
constexpr Collective kSyncThreadsOr{"__syncthreads_or", nullptr};

}  // namespace

uint64_t shuffle(uint32_t mask, uint64_t bits, int source, int width, Site site) {
  const int group = current_lane->index & ~(width - 1);
  Shuffled operands{bits, group | (source & (width - 1)), 0};
  current_lane->meet(kShuffle, mask, &operands, site);
  return operands.result;
}

uint64_t shuffle_xor(uint32_t mask, uint64_t bits, int lane_mask, int width, Site site) {
  const int last_of_group = current_lane->index | (width - 1);
  const int source = current_lane->index ^ lane_mask;
  Shuffled operands{bits, source > last_of_group ? current_lane->index : source, 0};
  current_lane->meet(kShuffleXor, mask, &operands, site);
  return operands.result;
}

uint32_t ballot(uint32_t mask, bool predicate, Site site) {
  Voted operands{predicate, 0};
  current_lane->meet(kBallot, mask, &operands, site);
  return operands.result;
}

bool any(uint32_t mask, bool predicate, Site site) {
  Voted operands{predicate, 0};
  current_lane->meet(kAny, mask, &operands, site);
  return operands.result != 0;
}

void sync_warp(uint32_t mask, Site site) { current_lane->meet(kSyncWarp, mask, nullptr, site); }

void sync_threads(Site site) {
  Voted operands{false, 0};
  current_lane->meet_block(kSyncThreads, &operands, site);
}

bool sync_threads_or(bool predicate, Site site) {
  Voted operands{predicate, 0};
  current_lane->meet_block(kSyncThreadsOr, &operands, site);
  return operands.result != 0;
}

void complete_barrier(std::span<Warp> warps) {
  bool holds = false;
  for (const Warp& warp : warps) {
    for_each_lane(warp.exist, [&](int i) { holds |= warp.operands<Voted>(i).predicate; });
  }
  for (const Warp& warp : warps) {
    for_each_lane(warp.exist, [&](int i) { warp.operands<Voted>(i).result = holds; });
  }
}

}  // namespace simt
