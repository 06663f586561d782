#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "src/hazards/hazard_context.h"

namespace flashcheck {

/// One row of head_dim elements of q, k or v whose values the case spells out.
struct DataRow {
  int64_t batch = 0;  // batch entry, or page; 0 for a flat tensor
  int64_t row = 0;
  int64_t head = 0;
  double value = 0;  // the first element that was looked for
};

/// Where a key row is read: position `key` of a sequence.
struct KeyPlace {
  int64_t sequence = 0, key = 0;
};

/// The first 256 rows of a tensor that hold an element for which `is_wanted`, in logical order.
/// Only literal values and constant fills are known; of anything else there are none.
std::vector<DataRow> rows_with(const TensorSpec& tensor,
                               const std::function<bool(double)>& is_wanted);

/// The places at which a row of k or v is loaded (`visible_only`: seen by some query row). Empty
/// where lengths or pages are unknown.
std::vector<KeyPlace> places_of(const HazardContext& context, const DataRow& row,
                                bool visible_only);

}  // namespace flashcheck
