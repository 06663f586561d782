#pragma once

#include <cstdint>

namespace simt {

/// While it lives, this thread's launches run in the order drawn from `seed`: blocks, warps, lanes
/// and the arrival of asynchronous copies. Without one, or with 0, everything comes in order and
/// copies arrive as late as they may.
class Schedule {
 public:
  explicit Schedule(uint64_t seed);
  ~Schedule();
  Schedule(const Schedule&) = delete;
  Schedule& operator=(const Schedule&) = delete;

  static uint64_t current_seed();

 private:
  uint64_t outer_seed_;
};

/// Evenly spread bits of `x` (splitmix64's finisher).
uint64_t mix(uint64_t x);

/// Numbers that depend on nothing but the seed.
class Draws {
 public:
  explicit Draws(uint64_t seed) : state_(seed) {}
  uint64_t next() { return mix(state_ += 0x9E3779B97F4A7C15u); }
  /// 0 to n - 1.
  uint32_t below(uint32_t n) { return static_cast<uint32_t>((next() >> 32) * n >> 32); }

 private:
  uint64_t state_;
};

/// What is left open within a block, decided. Some schedules let a warp run on to the next barrier,
/// others take turns often; some deliver all copies at once, others none, others some.
class Choices {
 public:
  Choices() : Choices(0, 0) {}
  Choices(uint64_t seed, uint64_t block);

  /// Which of n things comes next.
  uint32_t of(uint32_t n) { return in_order_ ? 0 : draws_.below(n); }
  /// Whether a warp stops here to let another run.
  bool yields() { return yield_chance_ != 0 && draws_.below(64) < yield_chance_; }
  /// Whether a copy's bytes are there at once, not only at the wait that covers them.
  bool arrives_at_once() { return at_once_chance_ != 0 && draws_.below(64) < at_once_chance_; }
  /// Whether the lanes of a warp go on from the last to the first.
  bool backwards() { return !in_order_ && draws_.below(2) == 1; }

 private:
  bool in_order_;
  Draws draws_;
  uint32_t yield_chance_ = 0, at_once_chance_ = 0;  // of 64
};

}  // namespace simt
