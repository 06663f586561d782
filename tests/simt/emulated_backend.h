#pragma once

#include "kernels/backend.h"

namespace flashcheck::testing {

/// The backend "cuda" on the emulated device. A run is one for every schedule from 0 to
/// num_schedules - 1; std::logic_error if two of them write other bytes, or with what a kernel did
/// that it must not do.
const Backend& emulated_cuda();
extern int num_schedules;

}  // namespace flashcheck::testing
