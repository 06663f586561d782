#pragma once

#include <cstddef>
#include <optional>
#include <vector>

namespace simt {

/// Memory of a kernel, shared or global: as large as was asked for, NaN in every float type at
/// first, with zones on both sides that no thread may touch (the address sanitizer stops at the
/// first touch; without it, stray_write() sees what was written).
class GuardedMemory {
 public:
  static constexpr std::size_t kAlignment = 256;

  explicit GuardedMemory(std::size_t bytes);
  ~GuardedMemory();
  GuardedMemory(const GuardedMemory&) = delete;
  GuardedMemory& operator=(const GuardedMemory&) = delete;

  std::byte* begin() const { return begin_; }
  std::size_t bytes() const { return bytes_; }
  bool contains(const std::byte* address, std::size_t bytes) const;

  /// As it was at first.
  void reset();
  /// The offset from begin() of a byte that was written outside; nothing if there is none.
  std::optional<std::ptrdiff_t> stray_write() const;

 private:
  std::size_t bytes_;
  std::vector<std::byte> storage_;
  std::byte* begin_;
};

}  // namespace simt
