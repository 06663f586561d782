#pragma once

#include <optional>
#include <string_view>

#include "src/layouts/layout.h"
#include "src/layouts/page_tables.h"
#include "src/load/complaints.h"
#include "src/load/json_value.h"
#include "src/spec/case.h"

namespace flashcheck {

/// What the `layout` of a tensor says of where its elements lie.
struct CacheLayout {
  LayoutView view;      // in the storage: `base` is in its offset and elements
  bool has_one_tensor;  // k and v lie in one allocation
};

/// Reads a tensor's `layout`, which is there. Nothing after a complaint, such as that only k and v
/// have one, that shape, strides or offset are given too, or that the layout is no view.
std::optional<CacheLayout> read_layout(const JsonValue& tensor, TensorName name,
                                       Complaints& complaints);

/// Reads the `from` of block_table, which is there: a page table in another engine's form. Nothing
/// after a complaint.
std::optional<PageTable> read_page_table(const JsonValue& tensor, int64_t page_block_size,
                                         Complaints& complaints);

}  // namespace flashcheck
