#include "tests/simt/collectives.h"

#include <bit>

#include "tests/simt/error.h"

namespace simt {
namespace {

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

}  // namespace

constinit const Collective kShuffle{"__shfl_sync", &perform_shuffle};
constinit const Collective kShuffleXor{"__shfl_xor_sync", &perform_shuffle};
constinit const Collective kBallot{"__ballot_sync", &perform_ballot};
constinit const Collective kAny{"__any_sync", &perform_ballot};
constinit const Collective kSyncWarp{"__syncwarp", nullptr};
constinit const Collective kSyncThreads{"__syncthreads", nullptr};
constinit const Collective kSyncThreadsOr{"__syncthreads_or", nullptr};

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
