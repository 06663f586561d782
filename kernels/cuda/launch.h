#pragma once

#include <cuda_runtime.h>

#include "kernels/attention_params.h"
#include "kernels/cuda/launch_plan.h"

namespace flashcheck {

/// Throws std::runtime_error if the program has no code that the current device can run.
void check_machine_code();

/// Starts the kernels of a plan on a stream and does not wait for them. `params` has the device's
/// pointers; plan.splits.partial_o and partial_softmax are set if it splits. Throws
/// std::runtime_error if CUDA refuses a call.
void launch_attention(const AttentionParams& params, const LaunchPlan& plan, cudaStream_t stream);

}  // namespace flashcheck
