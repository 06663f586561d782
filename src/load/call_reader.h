#pragma once

#include "src/load/complaints.h"
#include "src/load/json_value.h"
#include "src/load/values_reader.h"
#include "src/spec/case.h"

namespace flashcheck {

/// Reads the call that an object describes (wrapper, function, storages, tensors, args, arithmetic,
/// seed) into `c`; other keys are another's affair. After a complaint `c` may be incomplete, down
/// to a null function.
void read_call(const JsonValue& object, ValuesReader& values, Complaints& complaints, Case& c);

}  // namespace flashcheck
