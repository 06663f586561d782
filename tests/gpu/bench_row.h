#pragma once

#include <string>

#include "tests/gpu/bench_shapes.h"
#include "tests/gpu/timing.h"

namespace flashcheck::bench {

/// What timing one shape gave.
struct BenchRow {
  BenchShape shape;     // as it was run: with fewer sequences where the device's memory asks for it
  std::string failure;  // empty if all went well; the other members count only then
  LaunchTimes times;
  double row_error = 0;    // largest_row_error()
  int64_t num_copies = 0;  // of the inputs, used in turn
  int64_t num_blocks = 0, num_splits = 0;
  int rows_per_tile = 0, keys_per_tile = 0;
};

/// Times launch_attention() and looks at what it wrote. Throws nothing: a failure is told.
BenchRow bench_row(const BenchShape& shape, int device, double budget_seconds);

}  // namespace flashcheck::bench
