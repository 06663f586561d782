#pragma once

#include <cstddef>

namespace simt {

// What cudaMalloc gave out and cudaFree has not taken back, of this thread: memory must be freed
// where it was allocated.

/// Null if the host has no more.
void* allocate_on_device(std::size_t bytes);
/// False if `pointer` is not the start of an allocation, or null.
bool free_on_device(void* pointer);

/// While it lives, kernels that this thread launches may read these bytes of the host.
class MappedBytes {
 public:
  MappedBytes(const void* begin, std::size_t bytes);
  ~MappedBytes();
  MappedBytes(const MappedBytes&) = delete;
  MappedBytes& operator=(const MappedBytes&) = delete;

 private:
  const void* begin_;
};

/// Whether all of these bytes are in one allocation or mapping.
bool is_on_device(const void* begin, std::size_t bytes);
/// Throws Error if a byte just outside an allocation was written.
void check_device_memory();

}  // namespace simt
