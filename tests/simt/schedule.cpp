#include "tests/simt/schedule.h"

#include <array>

namespace simt {
namespace {

constinit thread_local uint64_t seed_of_this_thread = 0;

}  // namespace

Schedule::Schedule(uint64_t seed) : outer_seed_(seed_of_this_thread) { seed_of_this_thread = seed; }
Schedule::~Schedule() { seed_of_this_thread = outer_seed_; }
uint64_t Schedule::current_seed() { return seed_of_this_thread; }

uint64_t mix(uint64_t x) {
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9u;
  x = (x ^ (x >> 27)) * 0x94D049BB133111EBu;
  return x ^ (x >> 31);
}

Choices::Choices(uint64_t seed, uint64_t block)
    : in_order_(seed == 0), draws_(mix(seed) + mix(block + 1)) {
  if (in_order_) return;
  constexpr std::array<uint32_t, 4> kYieldChances = {0, 1, 8, 32};
  constexpr std::array<uint32_t, 4> kAtOnceChances = {0, 16, 32, 64};
  yield_chance_ = kYieldChances[draws_.below(4)];
  at_once_chance_ = kAtOnceChances[draws_.below(4)];
}

}  // namespace simt
