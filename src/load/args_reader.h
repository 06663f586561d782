#pragma once

#include "src/load/complaints.h"
#include "src/load/json_value.h"
#include "src/spec/case.h"

namespace flashcheck {

/// Reads `args`. `function` decides which there must and may be; null: unknown, any may be.
void read_args(const JsonValue& object, const WrapperFunction* function, Complaints& complaints,
               CallArgs& args);

}  // namespace flashcheck
