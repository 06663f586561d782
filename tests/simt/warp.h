#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <string>

#include "tests/simt/async_copies.h"
#include "tests/simt/counters.h"
#include "tests/simt/fiber.h"
#include "tests/simt/site.h"

namespace simt {

struct Index3 {
  unsigned x = 0, y = 0, z = 0;
};

class Block;
struct Warp;

constexpr uint32_t kWholeWarp = 0xFFFFFFFFu;

/// A word of CUDA that lanes say together. `perform` runs once, when all of `mask` have arrived;
/// where it is null, the lanes only wait for each other.
struct Collective {
  const char* name;
  void (*perform)(Warp& warp, uint32_t mask);
};

/// What a lane brings to a collective.
struct Arrival {
  const Collective* collective = nullptr;
  Site site;
  uint32_t mask = 0;
  void* operands = nullptr;  // of a type that the collective knows, on the lane's stack
};

/// One thread of a kernel.
struct Lane {
  explicit Lane(Fiber& scheduler);

  Warp* warp = nullptr;
  int index = 0;  // in the warp
  Index3 thread;  // threadIdx
  Fiber fiber;
  Arrival arrival;  // the collective it waits in, or the last it said
  AsyncCopies copies;

  /// Says `collective` and waits until all lanes of `mask` have said it at the same place.
  void meet(const Collective& collective, uint32_t mask, void* operands, Site site);
  /// The same for all of the block; `perform` is not called.
  void meet_block(const Collective& collective, void* operands, Site site);
  /// "block (0, 0, 0), warp 1, lane 2"
  std::string name() const;
  /// "block (0, 0, 0), warp 1, lane 2: __shfl_sync at softmax.h:40 "
  std::string name(const char* word, Site site) const;

 private:
  /// Whether it is the last; if not, it has waited.
  bool arrive(const Arrival& arrival);
};

/// 32 lanes, or in the last warp of a block what is left. One of them runs; when it waits, it
/// passes on to the next that can run.
struct Warp {
  Block* block = nullptr;
  int index = 0;                         // in the block
  std::array<Lane*, kWarpSize> lanes{};  // null beyond the block's threads
  uint32_t exist = 0, started = 0, ready = 0, waiting = 0, exited = 0;  // a bit a lane
  bool backwards = false;  // the order in which lanes go on
  int current = 0;         // the lane that goes on when the warp does
  CopyLog copy_log;        // filled only while something counts

  Lane& lane(int lane) const { return *lanes[static_cast<unsigned>(lane) % kWarpSize]; }
  /// What lane `i` brought to the collective at hand.
  template <typename Operands>
  Operands& operands(int i) const {
    return *static_cast<Operands*>(lane(i).arrival.operands);
  }

  /// The lane that runs after lane `i`; needs one that is ready.
  Lane& next_after(int i) const {
    return backwards ? lane(i - 1 - std::countl_zero(std::rotr(ready, i)))
                     : lane(i + 1 + std::countr_zero(std::rotr(ready, i + 1)));
  }
  /// Whether all of the arrival's mask wait in the same collective.
  bool have_all_arrived(const Arrival& arrival) const;
  /// Why no lane can go on, though some wait.
  std::string why_stuck() const;
  /// Counts what is logged, and forgets it.
  void count_copies();
};

/// The lane that runs on this thread of the CPU.
extern constinit thread_local Lane* current_lane;

}  // namespace simt

/// CUDA's, of the lane that runs.
extern constinit thread_local simt::Index3 threadIdx, blockIdx, blockDim, gridDim;
