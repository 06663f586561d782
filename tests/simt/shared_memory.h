#pragma once

#include <cstddef>
#include <optional>
#include <vector>

namespace simt {

/// A block's dynamic shared memory: as large as the launch says, NaN in every float type at the
/// block's start, with zones on both sides that no thread may touch (address sanitizer stops at
/// the first touch; without it, check() sees what was written).
class SharedMemory {
 public:
  static constexpr std::size_t kAlignment = 128;

  explicit SharedMemory(std::size_t bytes);
  ~SharedMemory();
  SharedMemory(const SharedMemory&) = delete;
  SharedMemory& operator=(const SharedMemory&) = delete;

  std::byte* begin() const { return begin_; }
  std::size_t bytes() const { return bytes_; }
  bool contains(const std::byte* address, std::size_t bytes) const;

  /// As a block finds it.
  void reset();
  /// The offset from begin() of a byte that was written outside; nothing if there is none.
  std::optional<std::ptrdiff_t> stray_write() const;

 private:
  std::size_t bytes_;
  std::vector<std::byte> storage_;
  std::byte* begin_;
};

}  // namespace simt
