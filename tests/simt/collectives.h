#pragma once

#include <cstdint>
#include <span>

#include "tests/simt/site.h"
#include "tests/simt/warp.h"

namespace simt {

// The words that the lanes of a warp or a block say together, said by the lane that runs.

/// The bits of lane `source` of each group of `width` lanes.
uint64_t shuffle(uint32_t mask, uint64_t bits, int source, int width, Site site);
uint64_t shuffle_xor(uint32_t mask, uint64_t bits, int lane_mask, int width, Site site);
/// A bit for each lane of `mask` whose predicate holds.
uint32_t ballot(uint32_t mask, bool predicate, Site site);
bool any(uint32_t mask, bool predicate, Site site);
void sync_warp(uint32_t mask, Site site);
void sync_threads(Site site);
/// Whether the predicate holds for any thread of the block.
bool sync_threads_or(bool predicate, Site site);

/// Gives all lanes of `warps`, which wait at one barrier, what it returns.
void complete_barrier(std::span<Warp> warps);

}  // namespace simt
