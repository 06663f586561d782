#include "tests/simt/emulated_backend.h"

#include <stdexcept>
#include <string>
#include <vector>

#include "kernels/cuda/flash_attention.h"
#include "tests/simt/error.h"
#include "tests/simt/schedule.h"

namespace flashcheck::testing {
namespace {

using Bytes = std::vector<std::byte>;

std::vector<Bytes> written(const Execution& execution) {
  std::vector<Bytes> bytes;
  for (const HostRegion& region : execution.regions) {
    if (region.is_written) bytes.emplace_back(region.begin, region.begin + region.size_bytes);
  }
  return bytes;
}

void run_all_schedules(const AttentionParams& params, const Execution& execution) {
  std::vector<Bytes> expected;
  for (int seed = 0; seed < num_schedules; ++seed) {
    const simt::Schedule schedule(static_cast<uint64_t>(seed));
    try {
      cuda_flash_attention(params, execution);
    } catch (const simt::Error& error) {
      throw std::logic_error("schedule " + std::to_string(seed) + ": " + error.what());
    }
    if (seed == 0) expected = written(execution);
    if (written(execution) != expected) {
      throw std::logic_error("schedule " + std::to_string(seed) + " writes other bytes");
    }
  }
}

}  // namespace

int num_schedules = 20;

const Backend& emulated_cuda() {
  static const Backend backend{.name = "cuda",
                               .description = "the CUDA kernel, run thread by thread",
                               .unavailable = cuda_unavailable,
                               .refusal = cuda_refusal,
                               .run = run_all_schedules};
  return backend;
}

}  // namespace flashcheck::testing
