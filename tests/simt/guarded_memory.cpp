#include "tests/simt/guarded_memory.h"

#include <cstdint>
#include <cstring>

#include "tests/simt/sanitizer.h"

namespace simt {
namespace {

constexpr std::size_t kZoneBytes = 1024;
constexpr std::byte kZone{0xA5};

}  // namespace

GuardedMemory::GuardedMemory(std::size_t bytes)
    : bytes_(bytes), storage_(bytes + 2 * kZoneBytes + kAlignment, kZone) {
  const auto start = reinterpret_cast<std::uintptr_t>(storage_.data()) + kZoneBytes;
  const std::uintptr_t aligned = (start + kAlignment - 1) / kAlignment * kAlignment;
  begin_ = storage_.data() + kZoneBytes + (aligned - start);
  forbid_access(begin_ - kZoneBytes, kZoneBytes);
  forbid_access(begin_ + bytes_, kZoneBytes);
  reset();
}

GuardedMemory::~GuardedMemory() { allow_access(storage_.data(), storage_.size()); }

bool GuardedMemory::contains(const std::byte* address, std::size_t bytes) const {
  const auto at = reinterpret_cast<std::uintptr_t>(address);
  const auto from = reinterpret_cast<std::uintptr_t>(begin_);
  return at >= from && bytes <= bytes_ && at - from <= bytes_ - bytes;
}

void GuardedMemory::reset() { std::memset(begin_, 0xFF, bytes_); }

std::optional<std::ptrdiff_t> GuardedMemory::stray_write() const {
  if (kHasAddressSanitizer) return std::nullopt;  // it has stopped the program at the write
  for (std::size_t i = 0; i < kZoneBytes; ++i) {
    const auto behind = static_cast<std::ptrdiff_t>(bytes_ + i);
    const auto before = -1 - static_cast<std::ptrdiff_t>(i);
    if (begin_[behind] != kZone) return behind;
    if (begin_[before] != kZone) return before;
  }
  return std::nullopt;
}

}  // namespace simt
