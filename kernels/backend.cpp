#include "kernels/backend.h"

#include <algorithm>
#include <array>
#include <mutex>
#include <stdexcept>

#include "kernels/cpu/flash_attention.h"
#ifdef FLASHCHECK_CUDA
#include "kernels/cuda/devices.h"
#include "kernels/cuda/flash_attention.h"
#endif

namespace flashcheck {
namespace {

constexpr Backend kCpu{
    .name = "cpu",
    .description = "flash attention in portable C++, on any number of threads",
    .devices = [] { return std::vector<std::string>(); },
    .unavailable = [](int) { return std::string(); },
    .refusal = [](const AttentionParams&) { return std::string(); },
    .run = [](const AttentionParams& params,
              const Execution& execution) { cpu_flash_attention(params, execution.num_threads); }};

#ifdef FLASHCHECK_CUDA

/// One launch at a time: a device then holds the memory of one case, and an error, which a device
/// may tell late, belongs to the case that made it.
void run_alone(const AttentionParams& params, const Execution& execution) {
  static std::mutex one_at_a_time;
  const std::lock_guard lock(one_at_a_time);
  cuda_flash_attention(params, execution);
}

#else

constexpr auto cuda_devices = [] { return std::vector<std::string>(); };
constexpr auto cuda_unavailable = [](int) {
  return std::string(
      "this build has no CUDA kernel; `./bootstrap build cuda` makes one that has (with CMake: "
      "-DFLASHCHECK_CUDA=ON)");
};
constexpr auto cuda_refusal = [](const AttentionParams&) { return cuda_unavailable(0); };
constexpr auto run_alone = [](const AttentionParams&, const Execution&) {
  throw std::runtime_error(cuda_unavailable(0));
};

#endif

constexpr Backend kCuda{
    .name = "cuda",
    .description =
        "flash attention on the tensor cores of an NVIDIA GPU, compute capability 8.0 "
        "or newer",
    .devices = cuda_devices,
    .unavailable = cuda_unavailable,
    .refusal = cuda_refusal,
    .run = run_alone};

constexpr std::array kBackends = {kCpu, kCuda};

}  // namespace

std::span<const Backend> backends() { return kBackends; }

const Backend* find_backend(std::string_view name) {
  const auto found = std::ranges::find(kBackends, name, &Backend::name);
  return found == kBackends.end() ? nullptr : &*found;
}

}  // namespace flashcheck
