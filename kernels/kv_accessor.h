#pragma once

#include <cstdint>

#include "kernels/host_device.h"

namespace flashcheck {

/// Where a key's row is: its page (0 if not paged) and its row there.
struct KvPlace {
  int64_t page = 0, row = 0;
};

/// Where the rows of K or of V of one (sequence, kv head) are: the only place that knows of pages.
/// Strides in elements. Pages may have any size >= 1; a tile of keys may straddle them.
template <typename T>
struct KvAccessor {
  const T* first = nullptr;  // paged: row 0 of page 0; otherwise the sequence's row 0
  int64_t row_stride = 0;
  const int32_t* block_table =
      nullptr;  // the sequence's row: logical page -> page; null: not paged
  int64_t page_stride = 0;
  uint32_t page_block_size = 0;

  /// Paged: j < 2^32. The same for K and V, which share the table.
  FLASHCHECK_HOST_DEVICE KvPlace place(int64_t j) const {
    if (block_table == nullptr) return {0, j};
    const auto key = static_cast<uint32_t>(j);  // a 64-bit division is a GPU's slowest arithmetic
    return {block_table[key / page_block_size], key % page_block_size};
  }
  /// head_dim contiguous elements.
  FLASHCHECK_HOST_DEVICE const T* row(const KvPlace& place) const {
    return first + place.page * page_stride + place.row * row_stride;
  }
  FLASHCHECK_HOST_DEVICE const T* row(int64_t j) const { return row(place(j)); }
};

}  // namespace flashcheck
