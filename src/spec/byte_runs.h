#pragma once

#include <cstdint>
#include <optional>
#include <vector>

namespace flashcheck {

/// A step that is taken `count` times, the first one at 0.
struct ByteLoop {
  int64_t count = 1, stride_bytes = 0;
  bool operator==(const ByteLoop&) const = default;
};

/// Bytes of a storage: a run of `run_bytes` at begin_bytes plus every combination of the loops'
/// steps. The fewest loops that say it: what touches or overlaps is one run.
struct ByteRuns {
  int64_t begin_bytes = 0;
  int64_t run_bytes = 0;        // 0: nothing
  std::vector<ByteLoop> loops;  // the outermost, with the largest stride, first

  /// One past the last byte.
  int64_t end_bytes() const;
  bool operator==(const ByteRuns&) const = default;
};

/// The bytes of elements of `element_bytes` at begin + every combination of `loops`, all in bytes;
/// nothing if one of them does not fit an int64. Preconditions: no count or stride is negative.
std::optional<ByteRuns> byte_runs(int64_t begin_bytes, int64_t element_bytes,
                                  std::vector<ByteLoop> loops);

/// How two views lie in one storage.
enum class Sharing : uint8_t {
  kApart,        // one begins after the other has ended
  kInterleaved,  // their ranges overlap, but no byte belongs to both
  kShared,       // some byte belongs to both
  kUnsettled,    // more combinations than are tried
};
Sharing sharing_of(const ByteRuns& a, const ByteRuns& b);

}  // namespace flashcheck
