#pragma once

#include <optional>

#include "src/load/complaints.h"
#include "src/load/json_value.h"
#include "src/spec/case.h"

namespace flashcheck {

/// Reads an `expect`: at least one demand, none that contradicts another. `wrapper` decides which
/// launch parameters there are. Nothing after a complaint.
std::optional<Expect> read_expect(const JsonValue& object, Wrapper wrapper, Complaints& complaints);

/// The names of all launch parameters that a wrapper's `expect.launch` may hold.
std::span<const std::string_view> launch_keys(Wrapper wrapper);

}  // namespace flashcheck
