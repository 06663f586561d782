#pragma once

#include <cstdint>
#include <set>

#include "src/spec/byte_runs.h"

namespace flashcheck {

/// Every byte of the runs, one by one.
inline std::set<int64_t> bytes_of(const ByteRuns& runs) {
  std::set<int64_t> begins{runs.begin_bytes};
  for (const ByteLoop& loop : runs.loops) {
    std::set<int64_t> next;
    for (const int64_t begin : begins) {
      for (int64_t n = 0; n < loop.count; ++n) next.insert(begin + n * loop.stride_bytes);
    }
    begins = next;
  }
  std::set<int64_t> bytes;
  for (const int64_t begin : begins) {
    for (int64_t byte = 0; byte < runs.run_bytes; ++byte) bytes.insert(begin + byte);
  }
  return bytes;
}

}  // namespace flashcheck
