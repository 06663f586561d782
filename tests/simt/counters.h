#pragma once

#include <array>
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

/// Adds 16-byte accesses at multiples of 16, of the lanes in order; null where a lane takes no
/// part.
void count_shared(std::span<const void* const> lanes, SharedTraffic& traffic);

/// The asynchronous copies that the lanes of a warp have started since they last met. Lanes run one
/// after the other: what they start together is found again by matching each lane's copies, in
/// order, with those of the lanes before it, place by place.
class CopyLog {
 public:
  void add(int lane, Site site, const void* shared, const void* global, int num_bytes);
  bool empty() const { return requests_.empty(); }
  void clear();
  void count(Counters& counters) const;

 private:
  struct Request {
    explicit Request(Site from) : site(from) {}
    Site site;
    std::array<const void*, kWarpSize> shared{};  // null: the lane takes no part
    std::array<std::uintptr_t, kWarpSize> global;
    std::array<int, kWarpSize> num_bytes{};
  };
  static void count_global(const Request& request, Counters& counters);

  std::vector<Request> requests_;
  std::array<std::size_t, kWarpSize> next_{};  // the first that a lane's next copy can be part of
};

}  // namespace simt
