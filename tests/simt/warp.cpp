#include "tests/simt/warp.h"

#include <bit>

#include "tests/simt/block.h"
#include "tests/simt/error.h"

namespace simt {
namespace {

uint32_t bit(int lane) { return uint32_t{1} << lane; }

std::string hex(uint32_t mask) {
  constexpr char kDigits[] = "0123456789abcdef";
  std::string text = "0x";
  for (int shift = 28; shift >= 0; shift -= 4) text += kDigits[(mask >> shift) & 15u];
  return text;
}

bool is_same_call(const Arrival& a, const Arrival& b) {
  return a.collective == b.collective && a.site == b.site && a.mask == b.mask;
}

// Apart, so that the way past them stays short.
[[noreturn, gnu::noinline, gnu::cold]] void fail_stuck(const Warp& warp) {
  throw Error(warp.why_stuck());
}

[[noreturn, gnu::noinline, gnu::cold]] void fail_for_others(const Lane& lane,
                                                            const Collective& collective,
                                                            uint32_t mask, Site site) {
  throw Error(lane.name(collective.name, site) + "is said for lanes " + hex(mask) +
              ", not this one");
}

}  // namespace

constinit thread_local Lane* current_lane = nullptr;

Lane::Lane(Fiber& scheduler) : fiber(&Block::live, this, scheduler) {}

/// Inlined with all that it calls: see Fiber::switch_between.
[[gnu::always_inline]] inline bool Lane::arrive(const Arrival& mine) {
  Warp& w = *warp;
  arrival = mine;
  w.ready &= ~bit(index);
  w.waiting |= bit(index);
  if ((w.waiting & mine.mask) == mine.mask && w.have_all_arrived(mine)) return true;
  if (w.ready == 0) fail_stuck(w);
  Block::pass_on(fiber, w.next_after(index));
  w.block->stop_if_abandoned();
  return false;
}

void Lane::meet(const Collective& collective, uint32_t mask, void* operands, Site site) {
  if ((mask & bit(index)) == 0) {
    fail_for_others(*this, collective, mask, site);
  }
  if (!arrive({&collective, site, mask, operands})) return;
  Warp& w = *warp;
  if (collective.perform != nullptr) collective.perform(w, mask);
  w.waiting &= ~mask;
  w.ready |= mask;
  if (!w.copy_log.empty()) w.count_copies();
  w.backwards = w.block->choices().backwards();
  if (w.block->choices().yields()) w.block->yield(*this);
}

void Lane::meet_block(const Collective& collective, void* operands, Site site) {
  if (!arrive({&collective, site, warp->exist, operands})) return;
  warp->count_copies();
  warp->block->wait_for_all(*this);
}

std::string Lane::name() const {
  const Index3& b = warp->block->index();
  return "block (" + std::to_string(b.x) + ", " + std::to_string(b.y) + ", " + std::to_string(b.z) +
         "), warp " + std::to_string(warp->index) + ", lane " + std::to_string(index);
}

std::string Lane::name(const char* word, Site site) const {
  return name() + ": " + word + " at " + site.text() + " ";
}

bool Warp::have_all_arrived(const Arrival& arrival) const {
  for (uint32_t rest = arrival.mask; rest != 0; rest &= rest - 1) {
    if (!is_same_call(lane(std::countr_zero(rest)).arrival, arrival)) return false;
  }
  return true;
}

std::string Warp::why_stuck() const {
  const Lane& first = lane(std::countr_zero(waiting));
  const Arrival& mine = first.arrival;
  const std::string waits = first.name(mine.collective->name, mine.site) + "waits for lane ";
  for (int i = 0; i < kWarpSize; ++i) {
    const std::string for_lane = waits + std::to_string(i) + ", which ";
    if ((mine.mask & bit(i)) == 0) continue;
    if ((exist & bit(i)) == 0) return for_lane + "the block does not have";
    if ((exited & bit(i)) != 0) return for_lane + "has exited";
    const Arrival& other = lane(i).arrival;
    if (is_same_call(other, mine)) continue;
    if (other.collective != mine.collective || !(other.site == mine.site)) {
      return for_lane + "waits in " + other.collective->name + " at " + other.site.text();
    }
    return for_lane + "says it for lanes " + hex(other.mask) + ", not " + hex(mine.mask);
  }
  return waits + "itself";
}

void Warp::count_copies() {
  if (copy_log.empty()) return;
  copy_log.count(*Counting::current());
  copy_log.clear();
}

}  // namespace simt
