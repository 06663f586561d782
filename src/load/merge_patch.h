#pragma once

#include <memory_resource>

#include "src/load/json_value.h"

namespace flashcheck {

/// Applies a JSON merge patch (RFC 7396). What the patch leaves alone is shared, not copied; an
/// object that it changes takes the patch's place in the document, for complaints. New objects are
/// made in `arena`. `target` may be null: nothing there yet.
const JsonValue* merge_patch(const JsonValue* target, const JsonValue& patch,
                             std::pmr::memory_resource& arena);

}  // namespace flashcheck
