#include "tests/simt/counters.h"

#include <algorithm>
#include <array>

namespace simt {
namespace {

constinit thread_local Counters* counters_of_this_thread = nullptr;

constexpr std::size_t kLanesAtOnce = 8;
constexpr std::uintptr_t kAccessBytes = 16, kAccessesOfAllBanks = 8, kSectorBytes = 32;

/// Lanes that access the same bytes share them; others that need the same four banks wait.
int64_t wavefronts(std::span<const void* const> lanes) {
  std::array<std::array<std::uintptr_t, kLanesAtOnce>, kAccessesOfAllBanks> chunks;
  std::array<std::size_t, kAccessesOfAllBanks> num_chunks{};
  for (const void* address : lanes) {
    if (address == nullptr) continue;
    const std::uintptr_t chunk = reinterpret_cast<std::uintptr_t>(address) / kAccessBytes;
    const std::uintptr_t banks = chunk % kAccessesOfAllBanks;
    const auto begin = chunks[banks].begin();
    const auto end = begin + static_cast<std::ptrdiff_t>(num_chunks[banks]);
    if (std::find(begin, end, chunk) == end) chunks[banks][num_chunks[banks]++] = chunk;
  }
  return static_cast<int64_t>(*std::max_element(num_chunks.begin(), num_chunks.end()));
}

}  // namespace

Counting::Counting() : outer_(counters_of_this_thread) { counters_of_this_thread = &counters; }
Counting::~Counting() { counters_of_this_thread = outer_; }
Counters* Counting::current() { return counters_of_this_thread; }

void count_shared(std::span<const void* const> lanes, SharedTraffic& traffic) {
  for (std::size_t first = 0; first < lanes.size(); first += kLanesAtOnce) {
    const auto at_once = lanes.subspan(first, std::min(kLanesAtOnce, lanes.size() - first));
    const int64_t needed = wavefronts(at_once);
    traffic.accesses += needed > 0;
    traffic.wavefronts += needed;
  }
}

void CopyLog::add(int lane, Site site, const void* shared, const void* global, int num_bytes) {
  const auto l = static_cast<std::size_t>(lane);
  std::size_t i = next_[l];
  while (i < requests_.size() && !(requests_[i].site == site)) ++i;
  if (i == requests_.size()) requests_.emplace_back(site);
  Request& request = requests_[i];
  request.shared[l] = shared;
  request.global[l] = reinterpret_cast<std::uintptr_t>(global);
  request.num_bytes[l] = num_bytes;
  next_[l] = i + 1;
}

void CopyLog::clear() {
  requests_.clear();
  next_.fill(0);
}

void CopyLog::count(Counters& counters) const {
  for (const Request& request : requests_) {
    count_shared(request.shared, counters.cp_async_writes);
    count_global(request, counters);
  }
}

void CopyLog::count_global(const Request& request, Counters& counters) {
  struct Part {
    std::uintptr_t global;
    int num_bytes;
  };
  std::array<Part, kWarpSize> parts;
  std::size_t num_parts = 0;
  for (std::size_t lane = 0; lane < kWarpSize; ++lane) {
    if (request.num_bytes[lane] == 0) continue;
    parts[num_parts++] = {request.global[lane], request.num_bytes[lane]};
    counters.cp_async_bytes += request.num_bytes[lane];
  }
  if (num_parts == 0) return;
  const auto end = parts.begin() + static_cast<std::ptrdiff_t>(num_parts);
  std::sort(parts.begin(), end, [](const Part& a, const Part& b) {
    return a.global != b.global ? a.global < b.global : a.num_bytes > b.num_bytes;
  });

  int64_t num_sectors = 0, num_bytes = 0;  // each counted once, though several lanes read it
  std::uintptr_t last_sector = 0, last = 0;
  for (auto part = parts.begin(); part != end; ++part) {
    const std::uintptr_t sector = part->global / kSectorBytes;  // a part never leaves its sector
    num_sectors += sector != last_sector;
    num_bytes += part->global != last ? part->num_bytes : 0;
    last_sector = sector;
    last = part->global;
  }
  ++counters.cp_async_reads.requests;
  counters.cp_async_reads.sectors += num_sectors;
  counters.cp_async_reads.sectors_needed +=
      (num_bytes + static_cast<int64_t>(kSectorBytes) - 1) / static_cast<int64_t>(kSectorBytes);
}

}  // namespace simt
