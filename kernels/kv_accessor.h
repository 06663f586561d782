#pragma once

#include <cstdint>

#include "kernels/host_device.h"

namespace flashcheck {

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

  /// head_dim contiguous elements of key j; paged: j < 2^32.
  FLASHCHECK_HOST_DEVICE const T* row(int64_t j) const {
    if (block_table == nullptr) return first + j * row_stride;
    const auto key = static_cast<uint32_t>(j);  // a 64-bit division is a GPU's slowest arithmetic
    const int64_t page = block_table[key / page_block_size];
    return first + page * page_stride + key % page_block_size * row_stride;
  }
};

}  // namespace flashcheck
