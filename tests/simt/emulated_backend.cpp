#include "tests/simt/emulated_backend.h"

#include "kernels/cuda/flash_attention.h"
#include "tests/simt/run_under_schedules.h"

namespace flashcheck::testing {

int num_schedules = 20;

const Backend& emulated_cuda() {
  static const Backend backend{
      .name = "cuda",
      .description = "the CUDA kernel, run thread by thread",
      .unavailable = cuda_unavailable,
      .refusal = cuda_refusal,
      .run = [](const AttentionParams& params, const Execution& execution) {
        run_under_schedules(params, execution, num_schedules);
      }};
  return backend;
}

}  // namespace flashcheck::testing
