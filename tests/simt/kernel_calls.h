#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tests/kernels/attention_call.h"
#include "tests/simt/counters.h"

namespace flashcheck::testing {

/// A call that shows one thing about a kernel.
struct KernelCall {
  std::string shows;
  CallShape shape;
  int num_multiprocessors = 1;  // of the emulated device: more than one makes the kernel split keys
  /// Values at which v is infinite or NaN, in kv head 0 of sequence 0.
  struct Spoiled {
    int64_t j, c;
    double value;
  };
  std::vector<Spoiled> spoiled_values = {};
};

/// Every branch of the CUDA kernel is in one of them.
const std::vector<KernelCall>& kernel_calls();

/// A random call of any kind that the CUDA kernel takes.
KernelCall random_kernel_call(std::mt19937& rng);

/// Runs the call under schedules 0 to num_schedules - 1 (run_under_schedules). Nothing if all wrote
/// the same bytes, no access of shared memory had a bank conflict, and the numbers are right;
/// otherwise what is wrong.
std::optional<std::string> fault_of(const KernelCall& call, int num_schedules);

/// What one run of such a call did to memory.
simt::Counters counters_of(const CallShape& shape);

}  // namespace flashcheck::testing
