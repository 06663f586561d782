#include "tests/simt/run_under_schedules.h"

#include <algorithm>
#include <stdexcept>
#include <string>
#include <vector>

#include "kernels/cuda/flash_attention.h"
#include "tests/simt/error.h"
#include "tests/simt/schedule.h"

namespace flashcheck::testing {
namespace {

using Bytes = std::vector<std::byte>;

std::vector<Bytes> written(const Execution& execution) {
  std::vector<Bytes> bytes;
  for (const HostRegion& region : execution.regions) {
    if (region.is_written) bytes.emplace_back(region.begin, region.begin + region.size_bytes);
  }
  return bytes;
}

/// Or what one schedule wrote would stand in for what the next one does not write.
void put_back(const std::vector<Bytes>& bytes, const Execution& execution) {
  auto next = bytes.begin();
  for (const HostRegion& region : execution.regions) {
    if (region.is_written) std::ranges::copy(*next++, region.begin);
  }
}

}  // namespace

void run_under_schedules(const AttentionParams& params, const Execution& execution,
                         int num_schedules) {
  const std::vector<Bytes> before = written(execution);
  std::vector<Bytes> expected;
  for (int seed = 0; seed < num_schedules; ++seed) {
    put_back(before, execution);
    const simt::Schedule schedule(static_cast<uint64_t>(seed));
    try {
      cuda_flash_attention(params, execution);
    } catch (const simt::Error& error) {
      throw std::logic_error("schedule " + std::to_string(seed) + ": " + error.what());
    }
    if (seed == 0) expected = written(execution);
    if (written(execution) != expected) {
      throw std::logic_error("schedule " + std::to_string(seed) + " writes other bytes");
    }
  }
}

}  // namespace flashcheck::testing
