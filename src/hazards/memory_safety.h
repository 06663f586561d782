#pragma once

#include "src/hazards/hazard_context.h"

namespace flashcheck {

/// Whether every address that the kernel (on the launch) and the reference (on the declared call)
/// can touch lies inside its storage, in 64-bit arithmetic. False also where that cannot be known
/// because the values of a table are missing. A proof by itself, not the sum of the rules: a rule
/// that is forgotten must not make a call run.
bool is_memory_safe(const HazardContext& context);

}  // namespace flashcheck
