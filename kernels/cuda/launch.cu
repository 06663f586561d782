#include <array>
#include <utility>

#include "kernels/cuda/check_cuda.h"
#include "kernels/cuda/combine_splits.h"
#include "kernels/cuda/flash_forward.h"
#include "kernels/cuda/launch.h"
#include "kernels/cuda/tile_shape.h"
#include "kernels/half.h"

namespace flashcheck {
namespace {

using ForwardKernel = void (*)(AttentionParams, SplitPlan);

/// flash_forward for every entry of kTileShapes.
template <typename T>
constexpr auto kForwardKernels = []<int... kIndex>(std::integer_sequence<int, kIndex...>) {
  return std::array<ForwardKernel, sizeof...(kIndex)>{&flash_forward<T, kIndex>...};
}
(std::make_integer_sequence<int, static_cast<int>(kTileShapes.size())>());

template <typename T>
void launch(const AttentionParams& params, const LaunchPlan& plan, cudaStream_t stream) {
  const TileShape& shape = kTileShapes[plan.shape];
  const ForwardKernel forward = kForwardKernels<T>[plan.shape];
  check_cuda(cudaFuncSetAttribute(forward, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                  shape.shared_bytes()),
             "cudaFuncSetAttribute");
  cudaLaunchConfig_t config = {};
  config.gridDim = dim3(static_cast<unsigned>(plan.num_blocks));
  config.blockDim = dim3(static_cast<unsigned>(shape.num_threads()));
  config.dynamicSmemBytes = static_cast<size_t>(shape.shared_bytes());
  config.stream = stream;
  check_cuda(cudaLaunchKernelEx(&config, forward, params, plan.splits), "flash_forward");
  if (plan.splits.num_splits == 1) return;

  const auto blocks_per_sequence = static_cast<uint32_t>(plan.combine_blocks_per_sequence);
  config.gridDim = dim3(params.launch.b * blocks_per_sequence);
  config.blockDim = dim3(32 * kCombineWarps);
  config.dynamicSmemBytes = 0;
  check_cuda(
      cudaLaunchKernelEx(&config, &combine_splits<T>, params, plan.splits, blocks_per_sequence),
      "combine_splits");
}

}  // namespace

void check_machine_code() {
  cudaFuncAttributes attributes;
  check_cuda(cudaFuncGetAttributes(&attributes, kForwardKernels<Half>[0]), "cudaFuncGetAttributes");
}

void launch_attention(const AttentionParams& params, const LaunchPlan& plan, cudaStream_t stream) {
  if (plan.num_blocks == 0) return;
  if (params.dtype == Dtype::kF16) {
    launch<Half>(params, plan, stream);
  } else {
    launch<BFloat16>(params, plan, stream);
  }
}

}  // namespace flashcheck
