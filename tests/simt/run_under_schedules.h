#pragma once

#include "kernels/backend.h"

namespace flashcheck::testing {

/// Runs the CUDA kernel on the emulated device under schedules 0 to num_schedules - 1, each time
/// from what out and lse held before. Throws std::logic_error if one writes other bytes than the
/// first, or does what a kernel must not do.
void run_under_schedules(const AttentionParams& params, const Execution& execution,
                         int num_schedules);

}  // namespace flashcheck::testing
