// The host side of the CUDA backend on the emulated device.

#include <cuda_runtime_api.h>
#include <doctest/doctest.h>

#include <new>
#include <stdexcept>
#include <string>

#include "kernels/cuda/flash_attention.h"
#include "kernels/cuda/launch_plan.h"
#include "kernels/cuda/tile_shape.h"
#include "tests/kernels/attention_call.h"
#include "tests/simt/device.h"

using namespace flashcheck;
using namespace flashcheck::testing;

namespace {

/// Puts the device back as it was.
struct DeviceAsItWas {
  simt::Device before = simt::device();
  ~DeviceAsItWas() { simt::device() = before; }
};

std::string error_of_run(AttentionCall& call) {
  try {
    const std::vector<HostRegion> regions = call.regions();
    cuda_flash_attention(call.params(), {.regions = regions});
  } catch (const std::runtime_error& error) {
    return error.what();
  }
  return "";
}

std::string refusal_of(const CallShape& shape) {
  AttentionCall call(shape);
  return cuda_refusal(call.params());
}

LaunchPlan plan_of(const CallShape& shape, int num_multiprocessors) {
  AttentionCall call(shape);
  return plan_launch(call.params(),
                     {.num_multiprocessors = num_multiprocessors, .shared_bytes = 164 * 1024});
}

}  // namespace

TEST_CASE("the backend says why it cannot run on a device") {
  const DeviceAsItWas guard;
  CHECK(cuda_unavailable(0) == "");
  CHECK(cuda_unavailable(1) == "there is no device 1: CUDA finds 1");
  CHECK(cuda_unavailable(-1) == "there is no device -1: CUDA finds 1");
  simt::device().failing_call = "cudaFuncGetAttributes";
  simt::device().failure = cudaErrorNoKernelImageForDevice;
  CHECK(cuda_unavailable(0).ends_with(
      " failed: cudaErrorNoKernelImageForDevice, no kernel image is available for execution on the "
      "device"));
  simt::device().failing_call = "cudaDeviceGetAttribute";
  simt::device().failure = cudaErrorUnknown;
  CHECK(cuda_unavailable(0).ends_with(" failed: cudaErrorUnknown, unknown error"));
  simt::device().failing_call = "";
  simt::device().compute_major = 7;
  simt::device().compute_minor = 5;
  CHECK(cuda_unavailable(0) == "compute capability 7.5 is too old: the kernel needs 8.0");
  simt::device().count = 0;
  CHECK(cuda_unavailable(0) ==
        "no CUDA-capable device is detected (does nvidia-smi list a device? Without it the NVIDIA "
        "driver is missing)");
}

TEST_CASE("the backend says which calls it has no kernel for") {
  CHECK(refusal_of({}) == "");
  CHECK(refusal_of({.dtype = Dtype::kF32}) ==
        "the kernel multiplies f16 and bf16, and this call has f32");
  CHECK(refusal_of({.rounds_p = false}) ==
        "tensor cores take P rounded to the input's dtype, and the case says it is not");
  CHECK(refusal_of({.d = 520}) == "the head dim must be a multiple of 8 up to 512, and it is 520");
}

TEST_CASE("a failed call is named, with its place and CUDA's text") {
  const DeviceAsItWas guard;
  for (const std::string name :
       {"cudaSetDevice", "cudaMalloc", "cudaMemcpy", "cudaFuncSetAttribute", "cudaLaunchKernelEx",
        "cudaDeviceSynchronize"}) {
    CAPTURE(name);
    AttentionCall call({.seqlens_q = {3}, .seqlens_k = {5}});
    simt::device().failing_call = name;
    simt::device().failure = 700;
    const std::string error = error_of_run(call);
    const std::string said = name == "cudaLaunchKernelEx" ? "flash_forward" : name;
    CHECK(error.starts_with(said + " at kernels/cuda/"));
    CHECK(error.ends_with(
        " failed: cudaErrorIllegalAddress, an illegal memory access was encountered"));
    simt::device().failing_call = "";
    CHECK(error_of_run(call) == "");
    CHECK(faults_of(call).empty());
  }
}

TEST_CASE("too little memory on the device is no failed call") {
  const DeviceAsItWas guard;
  AttentionCall call({.seqlens_q = {3}, .seqlens_k = {5}});
  simt::device().memory_bytes = 10;
  CHECK_THROWS_AS(error_of_run(call), std::bad_alloc);
}

TEST_CASE("the tile shape follows from the head dim and the rows") {
  for (int64_t d = 8; d <= 512; d += 8) {
    for (const int64_t rows : {1, 16, 17, 200}) {
      const LaunchPlan plan = plan_of({.d = d, .seqlens_q = {rows}, .seqlens_k = {40}}, 1);
      const TileShape& shape = kTileShapes[plan.shape];
      CHECK(shape.head_dim >= d);
      CHECK((shape.head_dim == 64 || shape.head_dim / 2 < d));
      CHECK((shape.rows == 16) == (rows <= 16));
      CHECK(plan.num_blocks == (rows + shape.rows - 1) / shape.rows * shape.column_parts());
    }
  }
}

TEST_CASE("keys are split where multiprocessors would be idle, and not otherwise") {
  const CallShape decode{.h = 8, .h_k = 1, .d = 64, .seqlens_k = {4096}};
  CHECK(plan_of(decode, 1).splits.num_splits == 4);  // blocks that fit shared memory
  CHECK(plan_of(decode, 3).splits.num_splits == 12);
  CHECK(plan_of(decode, 132).splits.num_splits == 16);  // 64 key tiles, four at least a split
  const CallShape prefill{.h = 8, .h_k = 8, .d = 64, .seqlens_q = {600}, .seqlens_k = {600}};
  CHECK(plan_of(prefill, 20).splits.num_splits == 1);  // all 40 blocks run at once as it is
  CHECK(plan_of(prefill, 20).num_partial_o == 0);
  const CallShape window{.h = 8, .h_k = 1, .d = 64, .seqlens_k = {4096}, .left = 100, .right = 0};
  CHECK(plan_of(window, 132).splits.num_splits == 1);  // two key tiles
}

TEST_CASE("splits part the visited keys: no key twice, none left out") {
  std::mt19937 rng(7);
  for (int n = 0; n < 2000; ++n) {
    const int64_t begin = static_cast<int64_t>(rng() % 300);
    const KeyRange visited{begin, begin + static_cast<int64_t>(rng() % 900) - 20};
    const auto num_splits = static_cast<uint32_t>(1 + rng() % 20);
    const int keys_per_tile = 16 << rng() % 3;
    int64_t next = visited.begin;
    for (uint32_t s = 0; s < num_splits; ++s) {
      const KeyRange keys = keys_of_split(visited, s, num_splits, keys_per_tile);
      if (keys.end <= keys.begin) continue;
      CHECK(keys.begin == next);
      CHECK((keys.end == visited.end || (keys.end - keys.begin) % keys_per_tile == 0));
      next = keys.end;
    }
    CHECK(next == std::max(visited.begin, visited.end));
  }
}
