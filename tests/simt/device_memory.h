#pragma once

#include <cstddef>

namespace simt {

// What cudaMalloc gave out and cudaFree has not taken back, of this thread: memory must be freed
// where it was allocated.

/// Null if the host has no more.
void* allocate_on_device(std::size_t bytes);
/// False if `pointer` is not the start of an allocation, or null.
bool free_on_device(void* pointer);

/// While it lives, kernels that this thread launches may read these bytes of the host. It may be a
/// static variable, which goes later than all that is a thread's.
class MappedBytes {
 public:
  MappedBytes(const void* begin, std::size_t bytes);
  ~MappedBytes();
  MappedBytes(const MappedBytes&) = delete;
  MappedBytes& operator=(const MappedBytes&) = delete;

  /// Whether all of these bytes are in one of this thread's mappings.
  static bool contain(const std::byte* first, std::size_t bytes);

 private:
  static constinit thread_local MappedBytes* newest_;

  const std::byte* begin_;
  std::size_t bytes_;
  MappedBytes* older_;
};

/// Whether all of these bytes are in one allocation or mapping.
bool is_on_device(const void* begin, std::size_t bytes);
/// Throws Error if a byte just outside an allocation was written.
void check_device_memory();

}  // namespace simt
