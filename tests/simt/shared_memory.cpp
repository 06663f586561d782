#include "tests/simt/shared_memory.h"

#include <cstdint>
#include <cstring>

#include "tests/simt/sanitizer.h"

namespace simt {
namespace {

constexpr std::size_t kZoneBytes = 1024;
constexpr std::byte kZone{0xA5};

}  // namespace

SharedMemory::SharedMemory(std::size_t bytes)
    : bytes_(bytes), storage_(bytes + 2 * kZoneBytes + kAlignment, kZone) {
  const auto start = reinterpret_cast<std::uintptr_t>(storage_.data()) + kZoneBytes;
  const std::uintptr_t aligned = (start + kAlignment - 1) / kAlignment * kAlignment;
  begin_ = storage_.data() + kZoneBytes + (aligned - start);
#ifdef SIMT_ASAN
  __asan_poison_memory_region(begin_ - kZoneBytes, kZoneBytes);
  __asan_poison_memory_region(begin_ + bytes_, kZoneBytes);
#endif
}

SharedMemory::~SharedMemory() {
#ifdef SIMT_ASAN
  __asan_unpoison_memory_region(storage_.data(), storage_.size());
#endif
}

bool SharedMemory::contains(const std::byte* address, std::size_t bytes) const {
  const auto at = reinterpret_cast<std::uintptr_t>(address);
  const auto from = reinterpret_cast<std::uintptr_t>(begin_);
  return at >= from && bytes <= bytes_ && at - from <= bytes_ - bytes;
}

void SharedMemory::reset() { std::memset(begin_, 0xFF, bytes_); }

std::optional<std::ptrdiff_t> SharedMemory::stray_write() const {
#ifdef SIMT_ASAN
  return std::nullopt;  // the address sanitizer has stopped the program
#else
  for (std::size_t i = 0; i < kZoneBytes; ++i) {
    const auto behind = static_cast<std::ptrdiff_t>(bytes_ + i);
    const auto before = -1 - static_cast<std::ptrdiff_t>(i);
    if (begin_[behind] != kZone) return behind;
    if (begin_[before] != kZone) return before;
  }
  return std::nullopt;
#endif
}

}  // namespace simt
