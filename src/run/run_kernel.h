#pragma once

#include "kernels/attention_params.h"
#include "src/compare/comparison.h"
#include "src/run/device_choice.h"
#include "src/spec/case.h"
#include "src/spec/launch_params.h"
#include "src/spec/tensor.h"

namespace flashcheck {

/// The launch with its pointers into the inputs; out and lse are null.
AttentionParams attention_params(const Case& c, const LaunchParams& launch, const Inputs& inputs);

/// Runs the kernel over an output that was poisoned before and is guarded at both ends. `params`
/// are those of the function above. Precondition: the call is memory-safe and the kernel, which can
/// run here, does not refuse it. Throws what the backend throws.
Output run_kernel(const Case& c, AttentionParams params, const Inputs& inputs,
                  const DeviceChoice& on, int num_threads);

/// The result that the case itself brings along as `out` (and `lse`). Precondition: it has `out`,
/// in q's shape.
Output dumped_output(const Case& c, const Inputs& inputs);

}  // namespace flashcheck
