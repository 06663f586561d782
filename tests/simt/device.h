#pragma once

#include <cstdint>
#include <string>

namespace simt {

/// The device that the runtime's calls pretend to have; tests may change it between launches.
struct Device {
  int count = 1;  // 0: there is none
  int compute_major = 8, compute_minor = 0;
  int num_multiprocessors = 108;
  int max_shared_bytes_per_block = 163 * 1024;  // with the opt-in
  int shared_bytes_per_multiprocessor = 164 * 1024;
  int64_t memory_bytes = int64_t{40} << 30;
  /// The call of this name fails, with the error of this number; empty: none does.
  std::string failing_call;
  int failure = 999;  // cudaErrorUnknown
};

/// One for the whole program.
Device& device();

}  // namespace simt
