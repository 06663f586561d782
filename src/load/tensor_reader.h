#pragma once

#include <optional>

#include "src/layouts/layout.h"
#include "src/load/complaints.h"
#include "src/load/json_value.h"
#include "src/load/values_reader.h"
#include "src/spec/tensor_spec.h"

namespace flashcheck {

/// Reads one entry of `tensors`, all but its storage; nothing after a complaint. Keeps the promises
/// of TensorSpec. `view`, if not null, says the shape, the strides and the offset, which the entry
/// then does not.
std::optional<TensorSpec> read_tensor(const JsonValue& object, const LayoutView* view,
                                      ValuesReader& values, Complaints& complaints);

/// How many elements of its storage a tensor needs: its offset and its span.
int64_t elements_needed(const TensorSpec& tensor);

}  // namespace flashcheck
