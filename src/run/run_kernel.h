#pragma once

#include "kernels/backend.h"
#include "src/compare/comparison.h"
#include "src/spec/case.h"
#include "src/spec/launch_params.h"
#include "src/spec/tensor.h"

namespace flashcheck {

/// Runs the backend on the launch, over an output that was poisoned before and is guarded at both
/// ends. `dtype` is q's. Precondition: the call is memory-safe and the backend can run here. Throws
/// what the backend throws.
Output run_kernel(const Case& c, const LaunchParams& launch, const Inputs& inputs,
                  const Backend& backend, int num_threads);

/// The result that the case itself brings along as `out` (and `lse`). Precondition: it has `out`,
/// in q's shape.
Output dumped_output(const Case& c, const Inputs& inputs);

}  // namespace flashcheck
