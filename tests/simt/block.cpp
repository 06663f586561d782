#include "tests/simt/block.h"

#include <algorithm>
#include <bit>
#include <string>
#include <utility>

#include "tests/simt/collectives.h"
#include "tests/simt/error.h"

constinit thread_local simt::Index3 threadIdx, blockIdx, blockDim, gridDim;

namespace simt {
namespace {

uint32_t bit(int i) { return uint32_t{1} << i; }

/// Of the set bits the `n`th.
int nth_bit(uint32_t bits, uint32_t n) {
  for (; n != 0; --n) bits &= bits - 1;
  return std::countr_zero(bits);
}

uint64_t count(const Index3& extent) { return uint64_t{extent.x} * extent.y * extent.z; }

Index3 index_of(uint64_t number, const Index3& extent) {
  const uint64_t row = number / extent.x;
  return {static_cast<unsigned>(number % extent.x), static_cast<unsigned>(row % extent.y),
          static_cast<unsigned>(row / extent.y)};
}

/// The blocks of a grid in the order in which they run.
std::vector<uint32_t> block_order(uint64_t num_blocks) {
  std::vector<uint32_t> order(num_blocks);
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = static_cast<uint32_t>(i);
  if (Schedule::current_seed() == 0) return order;
  Draws draws(Schedule::current_seed());
  for (std::size_t left = order.size(); left > 1; --left) {
    std::swap(order[left - 1], order[draws.below(static_cast<uint32_t>(left))]);
  }
  return order;
}

}  // namespace

Block& this_block() {
  thread_local Block block;
  return block;
}

Block::~Block() {
  is_ending_ = true;
  for (const auto& lane : lanes_) Fiber::switch_between(scheduler_, lane->fiber);
}

void Block::run(const Launch& launch) {
  launch_ = &launch;
  blockDim = launch.block;
  gridDim = launch.grid;
  shared_.emplace(launch.shared_bytes);
  for (const uint32_t number : block_order(count(launch.grid))) {
    blockIdx = index_ = index_of(number, launch.grid);
    choices_ = Choices(Schedule::current_seed(), number);
    run_one();
    if (Counters* counters = Counting::current()) ++counters->blocks;
  }
}

void Block::run_one() {
  shared_->reset();
  set_up_warps();
  while (failure_ == nullptr && (ready_ | at_barrier_) != 0) {
    if (ready_ == 0) {
      failure_ = barrier_failure();
      if (failure_ == nullptr) release_barrier();
    } else {
      const auto num_ready = static_cast<uint32_t>(std::popcount(ready_));
      const Warp& warp = warps_[static_cast<unsigned>(nth_bit(ready_, choices_.of(num_ready)))];
      pass_on(scheduler_, warp.lane(warp.current));
    }
  }
  if (failure_ != nullptr) {
    abandon_lanes();
    std::rethrow_exception(std::exchange(failure_, nullptr));
  }
  if (const auto offset = shared_->stray_write()) {
    throw Error("block (" + std::to_string(index_.x) + ", " + std::to_string(index_.y) + ", " +
                std::to_string(index_.z) + "): byte " + std::to_string(*offset) + " of " +
                std::to_string(shared_->bytes()) + " of shared memory was written");
  }
}

void Block::set_up_warps() {
  const uint64_t num_threads = count(launch_->block);
  while (lanes_.size() < num_threads) lanes_.push_back(std::make_unique<Lane>(scheduler_));
  num_warps_ = static_cast<std::size_t>((num_threads + kWarpSize - 1) / kWarpSize);
  ready_ = at_barrier_ = exited_ = 0;
  for (Warp& warp : warps()) {
    warp.block = this;
    warp.index = static_cast<int>(&warp - warps_.data());
    warp.started = warp.waiting = warp.exited = 0;
    warp.copy_log.clear();
    warp.lanes.fill(nullptr);
    const uint64_t first = static_cast<uint64_t>(warp.index) * kWarpSize;
    const auto num_lanes =
        static_cast<uint32_t>(std::min<uint64_t>(kWarpSize, num_threads - first));
    for (uint32_t i = 0; i < num_lanes; ++i) {
      Lane& lane = *lanes_[first + i];
      lane.warp = &warp;
      lane.index = static_cast<int>(i);
      lane.thread = index_of(first + i, launch_->block);
      warp.lanes[i] = &lane;
    }
    warp.exist = warp.ready = kWholeWarp >> (kWarpSize - num_lanes);
    warp.current = static_cast<int>(choices_.of(num_lanes));
    warp.backwards = choices_.backwards();
    ready_ |= bit(warp.index);
  }
}

void Block::yield(Lane& lane) {
  lane.warp->current = lane.index;
  Fiber::switch_between(lane.fiber, scheduler_);
  stop_if_abandoned();
}

void Block::wait_for_all(Lane& lane) {
  ready_ &= ~bit(lane.warp->index);
  at_barrier_ |= bit(lane.warp->index);
  yield(lane);
}

void Block::live(void* argument) {
  Lane& lane = *static_cast<Lane*>(argument);
  Block& block = *lane.warp->block;
  while (!block.is_ending_) {
    block.run_thread(lane);
    block.exit(lane);
  }
}

void Block::run_thread(Lane& lane) {
  lane.warp->started |= bit(lane.index);
  try {
    launch_->thread();
    if (!lane.copies.all_waited_for()) {
      throw Error(lane.name() + ": exits with copies that no cp_async_wait has covered");
    }
  } catch (const Abandoned&) {
  } catch (...) {
    failure_ = std::current_exception();
  }
  lane.copies.forget();
}

void Block::exit(Lane& lane) {
  Warp& warp = *lane.warp;
  warp.ready &= ~bit(lane.index);
  warp.waiting &= ~bit(lane.index);
  warp.exited |= bit(lane.index);
  if (failure_ == nullptr && warp.ready != 0) {
    pass_on(lane.fiber, warp.next_after(lane.index));
    return;
  }
  if (failure_ == nullptr && warp.waiting != 0) {
    failure_ = std::make_exception_ptr(Error(warp.why_stuck()));
  }
  warp.count_copies();
  ready_ &= ~bit(warp.index);
  exited_ |= bit(warp.index);
  Fiber::switch_between(lane.fiber, scheduler_);
}

std::exception_ptr Block::barrier_failure() const {
  const auto warp = [this](int w) -> const Warp& { return warps_[static_cast<unsigned>(w)]; };
  const auto lane = [&](int w) -> const Lane& { return warp(w).lane(warp(w).current); };
  const Lane& first = lane(std::countr_zero(at_barrier_));
  const Arrival& mine = first.arrival;
  const std::string waits = first.name(mine.collective->name, mine.site) + "waits for warp ";
  for (uint32_t rest = at_barrier_ | exited_; rest != 0; rest &= rest - 1) {
    const int w = std::countr_zero(rest);
    const std::string for_warp = waits + std::to_string(w) + ", which ";
    const Arrival& other = lane(w).arrival;
    if ((exited_ & bit(w)) != 0) return std::make_exception_ptr(Error(for_warp + "has exited"));
    if (other.collective != mine.collective || !(other.site == mine.site)) {
      return std::make_exception_ptr(
          Error(for_warp + "waits in " + other.collective->name + " at " + other.site.text()));
    }
  }
  return nullptr;
}

void Block::release_barrier() {
  complete_barrier(warps());
  for (Warp& warp : warps()) {
    warp.waiting = 0;
    warp.ready = warp.exist;
  }
  ready_ = std::exchange(at_barrier_, 0);
  if (Counters* counters = Counting::current()) ++counters->barriers;
}

void Block::abandon_lanes() {
  for (const Warp& warp : warps()) {
    while (const uint32_t left = warp.started & ~warp.exited) {
      pass_on(scheduler_, warp.lane(std::countr_zero(left)));
    }
  }
}

}  // namespace simt
