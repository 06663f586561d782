#pragma once

#include <string>
#include <vector>

namespace flashcheck {

/// "NVIDIA H200, compute capability 9.0, 139.8 GiB" of each device, in CUDA's order; empty where
/// there is no driver. Never throws.
std::vector<std::string> cuda_devices();

}  // namespace flashcheck
