#include "tests/simt/counters.h"

#include <algorithm>
#include <array>
#include <set>

namespace simt {
namespace {

constinit thread_local Counters* counters_of_this_thread = nullptr;

constexpr std::size_t kLanesAtOnce = 8;
constexpr std::uintptr_t kWordBytes = 4, kNumBanks = 32, kAccessBytes = 16, kSectorBytes = 32;

int64_t wavefronts(std::span<const void* const> lanes) {
  std::array<std::set<std::uintptr_t>, kNumBanks> words;
  for (const void* address : lanes) {
    if (address == nullptr) continue;
    const auto first = reinterpret_cast<std::uintptr_t>(address) / kWordBytes;
    for (std::uintptr_t word = first; word < first + kAccessBytes / kWordBytes; ++word) {
      words[word % kNumBanks].insert(word);
    }
  }
  std::size_t most = 0;
  for (const auto& bank : words) most = std::max(most, bank.size());
  return static_cast<int64_t>(most);
}

/// One request of a warp: each lane's part, or null.
using WarpRequest = std::array<const CopyRequest*, kWarpSize>;

std::vector<WarpRequest> gather(std::span<const CopyRequest> requests) {
  std::vector<WarpRequest> gathered;
  std::vector<Site> sites;
  for (const CopyRequest& request : requests) {
    const auto lane = static_cast<std::size_t>(request.lane);
    std::size_t i = 0;  // the first request of this place without this lane
    while (i < gathered.size() && !(sites[i] == request.site && gathered[i][lane] == nullptr)) ++i;
    if (i == gathered.size()) {
      gathered.emplace_back();
      sites.push_back(request.site);
    }
    gathered[i][lane] = &request;
  }
  return gathered;
}

void count_global(const WarpRequest& request, Counters& counters) {
  std::set<std::uintptr_t> sectors;
  std::set<std::uintptr_t> bytes;
  for (const CopyRequest* part : request) {
    if (part == nullptr) continue;
    counters.cp_async_bytes += part->num_bytes;
    for (std::uintptr_t at = part->global;
         at < part->global + static_cast<unsigned>(part->num_bytes); ++at) {
      bytes.insert(at);
      sectors.insert(at / kSectorBytes);
    }
  }
  if (bytes.empty()) return;
  ++counters.cp_async_reads.requests;
  counters.cp_async_reads.sectors += static_cast<int64_t>(sectors.size());
  counters.cp_async_reads.sectors_needed +=
      static_cast<int64_t>((bytes.size() + kSectorBytes - 1) / kSectorBytes);
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

void count_copies(std::span<const CopyRequest> requests, Counters& counters) {
  for (const WarpRequest& request : gather(requests)) {
    std::array<const void*, kWarpSize> shared{};
    for (std::size_t lane = 0; lane < shared.size(); ++lane) {
      if (request[lane] != nullptr) shared[lane] = request[lane]->shared;
    }
    count_shared(shared, counters.cp_async_writes);
    count_global(request, counters);
  }
}

}  // namespace simt
