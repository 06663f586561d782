#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "tests/simt/fiber.h"
#include "tests/simt/guarded_memory.h"
#include "tests/simt/schedule.h"
#include "tests/simt/warp.h"

namespace simt {

/// A grid to run.
struct Launch {
  Index3 grid, block;  // gridDim, blockDim
  std::size_t shared_bytes = 0;
  std::function<void()> thread;  // the kernel with its arguments
};

/// Unwinds the stack of a lane that will not go on.
struct Abandoned {};

/// The block that a thread of the CPU runs: its warps, its memory and who comes next. One object
/// serves block after block and launch after launch, because stacks are dear to make.
class Block {
 public:
  Block() = default;
  ~Block();
  Block(const Block&) = delete;
  Block& operator=(const Block&) = delete;

  /// Runs the grid's blocks one after the other. Throws the first simt::Error, or what else the
  /// kernel has thrown.
  void run(const Launch& launch);

  const Launch& launch() const { return *launch_; }
  const Index3& index() const { return index_; }  // blockIdx
  GuardedMemory& shared() { return *shared_; }
  Choices& choices() { return choices_; }

  // What lanes say:
  /// `next` goes on in place of `from`.
  static void pass_on(Fiber& from, Lane& next) {
    current_lane = &next;
    threadIdx = next.thread;
    Fiber::switch_between(from, next.fiber);
  }
  /// Lets the scheduler choose who goes on; comes back when this lane's warp has its turn.
  void yield(Lane& lane);
  /// The same, but all warps have to come first.
  void wait_for_all(Lane& lane);
  /// Unwinds the stack of the lane that runs if another has failed.
  void stop_if_abandoned() const {
    if (failure_ != nullptr) [[unlikely]]
      throw Abandoned();
  }
  /// The life of a lane: thread after thread.
  static void live(void* lane);

 private:
  static constexpr std::size_t kMaxWarps = 32;

  std::span<Warp> warps() { return std::span(warps_).first(num_warps_); }
  void run_one();
  void set_up_warps();
  void run_thread(Lane& lane);
  void exit(Lane& lane);
  /// Null if all warps wait at the same barrier.
  std::exception_ptr barrier_failure() const;
  void release_barrier();
  void abandon_lanes();

  const Launch* launch_ = nullptr;
  Index3 index_;
  std::optional<GuardedMemory> shared_;
  Choices choices_;
  Fiber scheduler_;                           // the thread's own stack
  std::vector<std::unique_ptr<Lane>> lanes_;  // by the thread's number; made when first needed
  std::array<Warp, kMaxWarps> warps_;
  std::size_t num_warps_ = 0;
  uint32_t ready_ = 0, at_barrier_ = 0, exited_ = 0;  // a bit a warp
  std::exception_ptr failure_;
  bool is_ending_ = false;
};

/// This thread's.
Block& this_block();

}  // namespace simt
