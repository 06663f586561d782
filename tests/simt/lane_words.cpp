#include "tests/simt/lane_words.h"

#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>

#include "tests/simt/block.h"
#include "tests/simt/device_memory.h"
#include "tests/simt/error.h"

namespace simt {
namespace {

constexpr std::uintptr_t kCopyBytes = 16;

bool is_aligned(const void* address) {
  return reinterpret_cast<std::uintptr_t>(address) % kCopyBytes == 0;
}

}  // namespace

void start_copy(void* shared, const void* global, int num_bytes, Site site) {
  Lane& lane = *current_lane;
  Block& block = *lane.warp->block;
  auto* to = static_cast<std::byte*>(shared);
  const auto fail = [&](const std::string& complaint) {
    throw Error(lane.name("cp_async_16", site) + complaint);
  };
  const auto offset = [&] {
    return std::to_string(to - block.shared().begin()) + " of " +
           std::to_string(block.shared().bytes());
  };
  if (!is_aligned(to)) fail("writes to an address that is no multiple of 16: byte " + offset());
  if (!block.shared().contains(to, kCopyBytes)) {
    fail("writes beyond shared memory: 16 bytes from " + offset());
  }
  if (!is_aligned(global)) fail("reads from an address that is no multiple of 16");
  if (num_bytes < 0 || num_bytes > 16) {
    fail("reads " + std::to_string(num_bytes) + " bytes, not 0 to 16");
  }
  if (num_bytes > 0 && !is_on_device(global, static_cast<std::size_t>(num_bytes))) {
    fail("reads " + std::to_string(num_bytes) + " bytes that are not in an allocation");
  }

  AsyncCopies::Chunk chunk{};
  if (num_bytes > 0) std::memcpy(chunk.data(), global, static_cast<std::size_t>(num_bytes));
  lane.copies.start(to, chunk, block.choices().arrives_at_once());
  if (Counting::current() != nullptr) {
    lane.warp->copy_log.add(lane.index, site, shared, global, num_bytes);
  }
}

void commit_copies() { current_lane->copies.commit(); }

void wait_for_copies(int pending) { current_lane->copies.wait(pending); }

std::byte* dynamic_shared_memory() { return current_lane->warp->block->shared().begin(); }

float ex2_approx(float x) {
  if (std::isnan(x) || std::isinf(x) || std::abs(x) < 0x1p-126f) return std::exp2(x);
  const auto hash = static_cast<int64_t>(mix(std::bit_cast<uint32_t>(x)));
  // 2^-22 less what the last rounding may add, times -1 to 1.
  const double error = 0x1.8p-23 * (static_cast<double>(hash) * 0x1p-63);
  const auto y = static_cast<float>(std::exp2(static_cast<double>(x)) * (1 + error));
  return y < 0x1p-126f ? 0.0f : y;
}

}  // namespace simt
