#pragma once

#include <cstdint>

#include "kernels/host_device.h"

namespace flashcheck {

/// Keys [begin, end); empty if end <= begin.
struct KeyRange {
  int64_t begin = 0, end = 0;
};

/// Which scores of a sequence are hidden. A query row is known by its position among the keys,
/// p = i + seqlen_k - seqlen_q (aligned to the bottom right), a key by j.
///
/// (p, j) is visible if 0 <= j < num_keys and p - left <= j <= p + right, both ends included, a
/// negative side having no limit; or, where a side has one, if 0 <= j < num_keys and both lie in
/// one of the ranges (candle-flash-attn/kernels/mask.h:137-153, 199-232).
struct Mask {
  int64_t num_keys = 0;
  int64_t left = -1, right = -1;
  const int32_t* ranges = nullptr;  // [num_ranges][2]: begin, end; begin >= end: empty
  int64_t num_ranges = 0;

  FLASHCHECK_HOST_DEVICE bool is_limited() const { return left >= 0 || right >= 0; }

  FLASHCHECK_HOST_DEVICE bool is_visible(int64_t p, int64_t j) const {
    const KeyRange keys = window(p);
    return (keys.begin <= j && j < keys.end) || range_shows(p, j);
  }

  /// The keys that the window alone shows to row p.
  FLASHCHECK_HOST_DEVICE KeyRange window(int64_t p) const {
    KeyRange keys{0, num_keys};
    if (left >= 0 && p - left > 0) keys.begin = p - left;
    if (right >= 0 && p + right + 1 < num_keys) keys.end = p + right + 1;
    return keys;
  }

  /// Whether a range alone shows key j to row p.
  FLASHCHECK_HOST_DEVICE bool range_shows(int64_t p, int64_t j) const {
    if (j < 0 || j >= num_keys) return false;
    for (int64_t r = 0; r < num_ranges; ++r) {
      const int64_t begin = ranges[2 * r], end = ranges[2 * r + 1];
      if (begin <= j && j < end && begin <= p && p < end) return true;
    }
    return false;
  }

  /// Whether the window alone shows all keys of [begin, end), which is not empty, to every row of
  /// [p_first, p_last].
  FLASHCHECK_HOST_DEVICE bool windows_show(int64_t p_first, int64_t p_last, int64_t begin,
                                           int64_t end) const {
    return window(p_last).begin <= begin && end <= window(p_first).end;
  }

  /// The keys that some row of [p_first, p_last] sees: they have no gap, as the window and every
  /// range that shows a row anything hold that row's own position, and the rows are neighbours.
  FLASHCHECK_HOST_DEVICE KeyRange visited_keys(int64_t p_first, int64_t p_last) const {
    KeyRange keys{0, num_keys};
    if (left >= 0 && p_first - left > 0) keys.begin = p_first - left;
    if (right >= 0 && p_last + right + 1 < num_keys) keys.end = p_last + right + 1;
    if (keys.end <= keys.begin) keys = {num_keys, 0};  // what any range widens
    for (int64_t r = 0; r < num_ranges; ++r) {
      const int64_t begin = ranges[2 * r] > 0 ? ranges[2 * r] : 0;
      const int64_t end = ranges[2 * r + 1] < num_keys ? ranges[2 * r + 1] : num_keys;
      if (begin >= end || ranges[2 * r] > p_last || ranges[2 * r + 1] <= p_first) continue;
      if (begin < keys.begin) keys.begin = begin;
      if (end > keys.end) keys.end = end;
    }
    return keys;
  }
};

}  // namespace flashcheck
