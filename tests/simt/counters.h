#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "tests/simt/site.h"

namespace simt {

/// 16-byte accesses of shared memory, eight lanes at a time: as many wavefronts as a bank (4 bytes
/// wide, 32 of them) has different words to deliver.
struct SharedTraffic {
  int64_t accesses = 0;    // of up to eight lanes
  int64_t wavefronts = 0;  // one an access without bank conflicts
  int64_t conflicts() const { return wavefronts - accesses; }
};

/// Requests of a warp to global memory, which answers in sectors of 32 bytes.
struct GlobalTraffic {
  int64_t requests = 0;        // that ask for any byte
  int64_t sectors = 0;         // touched
  int64_t sectors_needed = 0;  // had the bytes lain side by side
};

/// What kernels did.
struct Counters {
  int64_t blocks = 0, barriers = 0;  // a barrier counts once a block
  int64_t ldmatrix = 0, mma = 0;     // once a warp
  int64_t cp_async_bytes = 0;        // read from global memory
  SharedTraffic ldmatrix_reads, cp_async_writes;
  GlobalTraffic cp_async_reads;
};

/// While it lives, what this thread's launches do is added to its counters. The inner one of two
/// counts.
class Counting {
 public:
  Counting();
  ~Counting();
  Counting(const Counting&) = delete;
  Counting& operator=(const Counting&) = delete;

  Counters counters;
  /// Null where nothing counts.
  static Counters* current();

 private:
  Counters* outer_;
};

/// A lane's part in a copy that the lanes of its warp start together.
struct CopyRequest {
  int lane;
  Site site;
  const void* shared;
  std::uintptr_t global;
  int num_bytes;
};

/// Adds 16-byte accesses, of the lanes in order; null where a lane takes no part.
void count_shared(std::span<const void* const> lanes, SharedTraffic& traffic);

/// Adds what a warp's lanes have asked for since they last met. The nth copies that they started at
/// one place are one request.
void count_copies(std::span<const CopyRequest> requests, Counters& counters);

}  // namespace simt
