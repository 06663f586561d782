#pragma once

#include <string>
#include <vector>

#include "kernels/cuda/launch_plan.h"

namespace flashcheck {

/// "NVIDIA H200, compute capability 9.0, 139.8 GiB" of each device, in CUDA's order; empty where
/// there is no driver. Never throws.
std::vector<std::string> cuda_devices();

/// Throws std::runtime_error if there is no such device.
DeviceSize cuda_device_size(int device);

}  // namespace flashcheck
