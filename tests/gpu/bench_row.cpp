#include "tests/gpu/bench_row.h"

#include <cuda_runtime_api.h>

#include <new>
#include <stdexcept>

#include "kernels/cuda/check_cuda.h"
#include "kernels/cuda/devices.h"
#include "kernels/cuda/launch.h"
#include "kernels/cuda/tile_shape.h"
#include "tests/gpu/bench_inputs.h"
#include "tests/gpu/naive_rows.h"

namespace flashcheck::bench {
namespace {

/// Halves the batch until the inputs leave room for the rest: out, partial results, the yardsticks'
/// library.
BenchShape fitting(BenchShape shape) {
  size_t free_bytes = 0, total_bytes = 0;
  check_cuda(cudaMemGetInfo(&free_bytes, &total_bytes), "cudaMemGetInfo");
  while (shape.batch_size > 1 &&
         BenchInputs::copy_bytes(shape) > static_cast<int64_t>(free_bytes / 2)) {
    shape.batch_size /= 2;
  }
  return shape;
}

int64_t l2_bytes_of(int device) {
  int bytes = 0;
  check_cuda(cudaDeviceGetAttribute(&bytes, cudaDevAttrL2CacheSize, device),
             "cudaDeviceGetAttribute");
  return bytes;
}

void time_and_check(BenchRow& row, int device, double budget_seconds) {
  row.shape = fitting(row.shape);
  const BenchInputs inputs(row.shape, l2_bytes_of(device), cuda_device_size(device));
  const LaunchPlan& plan = inputs.plan();
  row.num_copies = inputs.num_copies();
  row.num_blocks = plan.num_blocks;
  row.num_splits = plan.splits.num_splits;
  row.rows_per_tile = kTileShapes[plan.shape].rows;
  row.keys_per_tile = kTileShapes[plan.shape].keys;

  int64_t last_copy = 0;
  row.times = time_launches(budget_seconds, [&](int64_t n) {
    last_copy = n % row.num_copies;
    launch_attention(inputs.params(last_copy), plan, /*stream=*/nullptr);
  });
  if (!is_all_numbers(inputs)) {
    row.failure = "out holds an infinity or a NaN, or was not written everywhere";
    return;
  }
  row.row_error = largest_row_error(inputs, last_copy, sampled_rows(row.shape));
  if (row.row_error <= kRowErrorBound) return;
  row.failure = "a row is wrong: |out - expected| / |expected| is " + std::to_string(row.row_error);
}

}  // namespace

BenchRow bench_row(const BenchShape& shape, int device, double budget_seconds) {
  BenchRow row;
  row.shape = shape;
  try {
    time_and_check(row, device, budget_seconds);
  } catch (const std::bad_alloc&) {
    row.failure = "the device has too little memory";
  } catch (const std::runtime_error& error) {
    row.failure = error.what();
  }
  return row;
}

}  // namespace flashcheck::bench
