#pragma once

#include "tests/gpu/timing.h"

namespace flashcheck::bench {

/// What this device does with the two things that attention is made of: the rows of a benchmark are
/// told as shares of it.
struct Yardstick {
  LaunchTimes times;
  double per_second = 0;  // at the median: flops, or bytes read and written
};

/// [n][n] = [n][n] [n][n] by cublasGemmEx, f16 with f32 accumulation, n = 8192.
Yardstick time_matrix_product(double budget_seconds);
/// cudaMemcpy of 2 GiB within the device: each byte is read and written.
Yardstick time_copy(double budget_seconds);

}  // namespace flashcheck::bench
