#include "src/spec/byte_runs.h"

#include <algorithm>
#include <functional>
#include <map>

#include "src/spec/checked.h"

namespace flashcheck {
namespace {

std::optional<int64_t> reach_of(const ByteLoop& loop) {
  return checked_mul(loop.count - 1, loop.stride_bytes);
}

/// A variable of the equation below: an integer in [low, high], times its stride.
struct Step {
  int64_t stride = 0, low = 0, high = 0;
};

/// Whether integers x in their steps' ranges give sum x * stride = target, or nothing after
/// `budget` trials. Steps in descending order of stride, the last of stride 1. Each is only tried
/// where the smaller ones can still make up the rest.
class BoundedSum {
 public:
  BoundedSum(std::vector<Step> steps, int64_t budget) : steps_(std::move(steps)), budget_(budget) {
    reach_.resize(steps_.size() + 1);
    for (size_t i = steps_.size(); i-- > 0;) {
      reach_[i] = {reach_[i + 1].low + steps_[i].low * steps_[i].stride,
                   reach_[i + 1].high + steps_[i].high * steps_[i].stride};
    }
  }

  std::optional<bool> can_be(int64_t target) { return can_be(target, 0); }

 private:
  struct Reach {
    int64_t low = 0, high = 0;
  };

  std::optional<bool> can_be(int64_t target, size_t at) {
    if (target < reach_[at].low || target > reach_[at].high) return false;
    if (at + 1 >= steps_.size()) return true;
    if (--budget_ < 0) return std::nullopt;
    const Step& step = steps_[at];
    const int64_t first = std::max(step.low, ceil(target - reach_[at + 1].high, step.stride));
    const int64_t last = std::min(step.high, floor(target - reach_[at + 1].low, step.stride));
    for (int64_t x = first; x <= last; ++x) {
      const std::optional<bool> found = can_be(target - x * step.stride, at + 1);
      if (!found || *found) return found;
    }
    return false;
  }

  static int64_t floor(int64_t a, int64_t b) { return a / b - (a % b < 0 ? 1 : 0); }
  static int64_t ceil(int64_t a, int64_t b) { return a / b + (a % b > 0 ? 1 : 0); }

  std::vector<Step> steps_;
  std::vector<Reach> reach_;
  int64_t budget_;
};

}  // namespace

int64_t ByteRuns::end_bytes() const {
  int64_t end = begin_bytes + run_bytes;
  for (const ByteLoop& loop : loops) end += *reach_of(loop);
  return end;
}

std::optional<ByteRuns> byte_runs(int64_t begin_bytes, int64_t element_bytes,
                                  std::vector<ByteLoop> loops) {
  ByteRuns runs{.begin_bytes = begin_bytes, .run_bytes = element_bytes};
  std::optional<int64_t> end = checked_add(begin_bytes, element_bytes);
  for (const ByteLoop& loop : loops) {
    if (loop.count == 0) return ByteRuns{.begin_bytes = begin_bytes};
    const std::optional<int64_t> reach = reach_of(loop);
    end = end && reach ? checked_add(*end, *reach) : std::nullopt;
  }
  if (!end) return std::nullopt;

  std::erase_if(loops,
                [](const ByteLoop& loop) { return loop.count == 1 || loop.stride_bytes == 0; });
  std::sort(loops.begin(), loops.end(),
            [](const ByteLoop& a, const ByteLoop& b) { return a.stride_bytes < b.stride_bytes; });
  for (const ByteLoop& loop : loops) {
    if (runs.loops.empty() && loop.stride_bytes <= runs.run_bytes) {
      runs.run_bytes += *reach_of(loop);
    } else if (!runs.loops.empty() &&
               checked_mul(runs.loops.back().count, runs.loops.back().stride_bytes) ==
                   loop.stride_bytes) {
      runs.loops.back().count *= loop.count;
    } else {
      runs.loops.push_back(loop);
    }
  }
  std::reverse(runs.loops.begin(), runs.loops.end());
  return runs;
}

Sharing sharing_of(const ByteRuns& a, const ByteRuns& b) {
  if (a.run_bytes == 0 || b.run_bytes == 0 || a.end_bytes() <= b.begin_bytes ||
      b.end_bytes() <= a.begin_bytes) {
    return Sharing::kApart;
  }
  // A byte of both is a solution of begin_a + sum x_a s_a = begin_b + sum x_b s_b. Equal strides
  // count once: only the difference of their x matters.
  std::map<int64_t, Step, std::greater<>> by_stride;
  const auto add = [&](const ByteLoop& loop, bool is_a) {
    Step& step = by_stride[loop.stride_bytes];
    step.stride = loop.stride_bytes;
    (is_a ? step.high : step.low) += is_a ? loop.count - 1 : 1 - loop.count;
  };
  add({a.run_bytes, 1}, true);
  add({b.run_bytes, 1}, false);
  for (const ByteLoop& loop : a.loops) add(loop, true);
  for (const ByteLoop& loop : b.loops) add(loop, false);

  constexpr int64_t kFarApart = int64_t{1} << 60, kTrials = 1'000'000;
  if (a.end_bytes() > kFarApart || b.end_bytes() > kFarApart) return Sharing::kUnsettled;
  std::vector<Step> steps;
  for (const auto& [stride, step] : by_stride) steps.push_back(step);
  const std::optional<bool> shares =
      BoundedSum(std::move(steps), kTrials).can_be(b.begin_bytes - a.begin_bytes);
  if (!shares) return Sharing::kUnsettled;
  return *shares ? Sharing::kShared : Sharing::kInterleaved;
}

}  // namespace flashcheck
