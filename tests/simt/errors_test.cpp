// What a kernel must not do, and what the emulator says of it.

#include <cuda_runtime.h>
#include <doctest/doctest.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>

#include "kernels/cuda/ptx.h"
#include "tests/simt/device_memory.h"
#include "tests/simt/guarded_memory.h"
#include "tests/simt/run_kernel.h"
#include "tests/simt/sanitizer.h"

namespace {

using simt::error_of;
using simt::Site;
namespace ptx = flashcheck::ptx;

constexpr unsigned kAll = 0xFFFFFFFFu;

// Most kernels say where they are, so that the messages do not depend on this file's lines.
constexpr Site kHere{"/somewhere/kernel.cu", 7};
constexpr Site kThere{"/somewhere/kernel.cu", 9};

alignas(16) std::array<std::byte, 64> global_bytes{};
const simt::MappedBytes mapped_bytes(global_bytes.data(), global_bytes.size());

__global__ void write_global_byte(std::byte* at) { *at = std::byte{0}; }

__global__ void exit_early(unsigned lane) {
  if (threadIdx.x == lane) return;
  __syncwarp(kAll, kHere);
}

__global__ void part_ways(unsigned lane) {
  if (threadIdx.x % 32 == lane) {
    __ballot_sync(kAll, 1, kThere);
  } else {
    __syncwarp(kAll, kHere);
  }
}

__global__ void disagree_on_lanes() { __syncwarp(threadIdx.x == 3 ? 0x0000000Fu : kAll, kHere); }

__global__ void speak_for_others() { __syncwarp(0x0000FFFFu, kHere); }

__global__ void ask(int lane, unsigned mask) {
  if ((mask >> threadIdx.x & 1u) != 0) __shfl_sync(mask, 1, lane, 32, kHere);
}

__global__ void skip_barrier(unsigned warp) {
  if (threadIdx.x / 32 == warp) return;
  __syncthreads(kHere);
}

__global__ void skip_barrier_in_one_lane() {
  if (threadIdx.x == 40) return;
  __syncthreads(kHere);
}

__global__ void wait_at_two_barriers() {
  if (threadIdx.x / 32 == 1) {
    __syncthreads(kThere);
  } else {
    __syncthreads(kHere);
  }
}

__global__ void wait_at_two_kinds() {
  if (threadIdx.x / 32 == 1) {
    __syncthreads_or(1, kHere);
  } else {
    __syncthreads(kHere);
  }
}

__global__ void load(int offset) {
  uint32_t r[4];
  const int mine = threadIdx.x == 9 ? offset : 0;
  ptx::ldmatrix_x4(r, ptx::dynamic_shared_memory() + mine, kHere);
}

__global__ void copy(int offset, int global_offset, int num_bytes) {
  ptx::cp_async_16(ptx::dynamic_shared_memory() + offset, global_bytes.data() + global_offset,
                   num_bytes, kHere);
  ptx::cp_async_commit();
  ptx::cp_async_wait<0>();
}

__global__ void forget_commit() {
  ptx::cp_async_16(ptx::dynamic_shared_memory(), global_bytes.data(), 16);
  ptx::cp_async_wait<0>();
}

__global__ void forget_wait() {
  ptx::cp_async_16(ptx::dynamic_shared_memory(), global_bytes.data(), 16);
  ptx::cp_async_commit();
  ptx::cp_async_16(ptx::dynamic_shared_memory() + 16, global_bytes.data(), 16);
  ptx::cp_async_commit();
  ptx::cp_async_wait<1>();
}

__global__ void forget_nothing() {
  ptx::cp_async_16(ptx::dynamic_shared_memory(), global_bytes.data(), 16);
  ptx::cp_async_commit();
  ptx::cp_async_commit();  // an empty group need not be waited for
  ptx::cp_async_wait<1>();
}

__global__ void write_byte(std::ptrdiff_t offset) {
  ptx::dynamic_shared_memory()[offset] = std::byte{1};
}

__global__ void throw_in_one_lane(int* unwound) {
  struct Unwound {
    int* count;
    ~Unwound() { ++*count; }
  };
  const Unwound unwind{unwound};
  __syncwarp();
  if (threadIdx.x == 17) throw 42;
  __syncthreads();
}

}  // namespace

TEST_CASE("A lane that has exited is missed") {
  CHECK(error_of(1, 32, 0, &exit_early, 5u) ==
        "block (0, 0, 0), warp 0, lane 0: __syncwarp at kernel.cu:7 waits for lane 5, which has "
        "exited");
  CHECK(error_of(1, 32, 0, &exit_early, 0u) ==
        "block (0, 0, 0), warp 0, lane 1: __syncwarp at kernel.cu:7 waits for lane 0, which has "
        "exited");
  CHECK(error_of(1, 32, 0, &exit_early, 31u) ==
        "block (0, 0, 0), warp 0, lane 0: __syncwarp at kernel.cu:7 waits for lane 31, which has "
        "exited");
}

TEST_CASE("Lanes of a warp that wait at two places wait for each other") {
  CHECK(error_of(dim3(1, 2), 64, 0, &part_ways, 5u) ==
        "block (0, 0, 0), warp 0, lane 0: __syncwarp at kernel.cu:7 waits for lane 5, which waits "
        "in __ballot_sync at kernel.cu:9");
  CHECK(error_of(1, 32, 0, &part_ways, 0u) ==
        "block (0, 0, 0), warp 0, lane 0: __ballot_sync at kernel.cu:9 waits for lane 1, which "
        "waits in __syncwarp at kernel.cu:7");
}

TEST_CASE("Lanes have to agree on who takes part") {
  CHECK(error_of(1, 32, 0, &disagree_on_lanes) ==
        "block (0, 0, 0), warp 0, lane 0: __syncwarp at kernel.cu:7 waits for lane 3, which says "
        "it for lanes 0x0000000f, not 0xffffffff");
  CHECK(error_of(1, 32, 0, &speak_for_others) ==
        "block (0, 0, 0), warp 0, lane 16: __syncwarp at kernel.cu:7 is said for lanes 0x0000ffff, "
        "not this one");
}

TEST_CASE("A block has the lanes that it has") {
  CHECK(error_of(1, 48, 0, &exit_early, 99u) ==
        "block (0, 0, 0), warp 1, lane 0: __syncwarp at kernel.cu:7 waits for lane 16, which the "
        "block does not have");
}

TEST_CASE("A shuffle asks a lane that takes part") {
  CHECK(error_of(1, 32, 0, &ask, 3, kAll) == "");
  CHECK(error_of(1, 32, 0, &ask, 16, 0x0000FFFFu) ==
        "block (0, 0, 0), warp 0, lane 0: __shfl_sync at kernel.cu:7 asks for the value of lane "
        "16, which is not among those that say it");
}

TEST_CASE("All warps come to a barrier") {
  CHECK(error_of(1, 96, 0, &skip_barrier, 1u) ==
        "block (0, 0, 0), warp 0, lane 31: __syncthreads at kernel.cu:7 waits for warp 1, which "
        "has exited");
  CHECK(error_of(1, 96, 0, &skip_barrier_in_one_lane) ==
        "block (0, 0, 0), warp 1, lane 0: __syncthreads at kernel.cu:7 waits for lane 8, which has "
        "exited");
  CHECK(error_of(1, 64, 0, &wait_at_two_barriers) ==
        "block (0, 0, 0), warp 0, lane 31: __syncthreads at kernel.cu:7 waits for warp 1, which "
        "waits in __syncthreads at kernel.cu:9");
  CHECK(error_of(1, 64, 0, &wait_at_two_kinds) ==
        "block (0, 0, 0), warp 0, lane 31: __syncthreads at kernel.cu:7 waits for warp 1, which "
        "waits in __syncthreads_or at kernel.cu:7");
}

TEST_CASE("ldmatrix reads 16 aligned bytes of the block's shared memory") {
  CHECK(error_of(1, 32, 256, &load, 240) == "");
  CHECK(error_of(1, 32, 256, &load, 8) ==
        "block (0, 0, 0), warp 0, lane 9: ldmatrix_x4 at kernel.cu:7 reads an address that is no "
        "multiple of 16: byte 8 of 256");
  CHECK(error_of(1, 32, 256, &load, 256) ==
        "block (0, 0, 0), warp 0, lane 9: ldmatrix_x4 at kernel.cu:7 reads beyond shared memory: "
        "16 bytes from 256 of 256");
  CHECK(error_of(1, 32, 256, &load, -16) ==
        "block (0, 0, 0), warp 0, lane 9: ldmatrix_x4 at kernel.cu:7 reads beyond shared memory: "
        "16 bytes from -16 of 256");
  CHECK(error_of(1, 16, 256, &load, 0) ==
        "block (0, 0, 0), warp 0, lane 0: ldmatrix_x4 at kernel.cu:7 waits for lane 16, which the "
        "block does not have");
}

TEST_CASE("cp.async copies between 16 aligned bytes") {
  CHECK(error_of(1, 1, 256, &copy, 240, 48, 16) == "");
  CHECK(error_of(1, 1, 256, &copy, 0, 16, 0) == "");
  CHECK(error_of(1, 1, 256, &copy, 4, 0, 16) ==
        "block (0, 0, 0), warp 0, lane 0: cp_async_16 at kernel.cu:7 writes to an address that is "
        "no multiple of 16: byte 4 of 256");
  CHECK(error_of(1, 1, 256, &copy, 256, 0, 16) ==
        "block (0, 0, 0), warp 0, lane 0: cp_async_16 at kernel.cu:7 writes beyond shared memory: "
        "16 bytes from 256 of 256");
  CHECK(error_of(1, 1, 256, &copy, 0, 2, 0) ==
        "block (0, 0, 0), warp 0, lane 0: cp_async_16 at kernel.cu:7 reads from an address that is "
        "no multiple of 16");
  CHECK(error_of(1, 1, 256, &copy, 0, 0, 17) ==
        "block (0, 0, 0), warp 0, lane 0: cp_async_16 at kernel.cu:7 reads 17 bytes, not 0 to 16");
  const std::string beyond =
      "block (0, 0, 0), warp 0, lane 0: cp_async_16 at kernel.cu:7 reads 8 bytes that are not in "
      "an "
      "allocation";
  CHECK(error_of(1, 1, 256, &copy, 0, 64, 8) == beyond);
  CHECK(error_of(1, 1, 256, &copy, 0, -16, 8) == beyond);
  CHECK(error_of(1, 1, 256, &copy, 0, 48, 16) == "");
  CHECK(error_of(1, 1, 256, &copy, 0, 64, 0) == "");
}

TEST_CASE("Copies read what cudaMalloc gave, to its last byte, until cudaFree") {
  void* allocated = nullptr;
  REQUIRE(cudaMalloc(&allocated, 40) == cudaSuccess);
  const auto* bytes = static_cast<const std::byte*>(allocated);
  CHECK(simt::is_on_device(bytes, 40));
  CHECK(simt::is_on_device(bytes + 39, 1));
  CHECK_FALSE(simt::is_on_device(bytes + 39, 2));
  CHECK_FALSE(simt::is_on_device(bytes - 1, 1));
  CHECK(cudaFree(allocated) == cudaSuccess);
  CHECK_FALSE(simt::is_on_device(bytes, 1));
  CHECK(cudaFree(allocated) == cudaErrorInvalidValue);
  cudaGetLastError();
}

TEST_CASE("Writes beside an allocation are seen") {
  void* allocated = nullptr;
  REQUIRE(cudaMalloc(&allocated, 40) == cudaSuccess);
  auto* bytes = static_cast<std::byte*>(allocated);
  CHECK(error_of(1, 1, 0, &write_global_byte, bytes + 39) == "");
  if (!simt::kHasAddressSanitizer) {  // or it would stop the program
    CHECK(error_of(1, 1, 0, &write_global_byte, bytes + 40) ==
          "a thread wrote byte 40 of an allocation of 40 bytes");
  }
  CHECK(cudaFree(allocated) == cudaSuccess);
}

TEST_CASE("A thread waits for its copies before it exits") {
  const std::string complaint =
      "block (0, 0, 0), warp 0, lane 0: exits with copies that no cp_async_wait has covered";
  CHECK(error_of(1, 1, 256, &forget_commit) == complaint);
  CHECK(error_of(1, 1, 256, &forget_wait) == complaint);
  CHECK(error_of(1, 1, 256, &forget_nothing) == "");
}

TEST_CASE("Writes beside shared memory are seen") {
  CHECK(error_of(1, 1, 64, &write_byte, 0) == "");
  CHECK(error_of(1, 1, 64, &write_byte, 63) == "");
#ifdef SIMT_ASAN
  const simt::GuardedMemory shared(64);
  CHECK(__asan_address_is_poisoned(shared.begin() + 64));
  CHECK(__asan_address_is_poisoned(shared.begin() - 1));
  CHECK(!__asan_address_is_poisoned(shared.begin()));
  CHECK(!__asan_address_is_poisoned(shared.begin() + 63));
#else
  CHECK(error_of(1, 1, 64, &write_byte, 64) ==
        "block (0, 0, 0): byte 64 of 64 of shared memory was written");
  CHECK(error_of(1, 1, 64, &write_byte, 600) ==
        "block (0, 0, 0): byte 600 of 64 of shared memory was written");
  CHECK(error_of(1, 1, 64, &write_byte, -1) ==
        "block (0, 0, 0): byte -1 of 64 of shared memory was written");
  CHECK(error_of(1, 1, 0, &write_byte, 0) ==
        "block (0, 0, 0): byte 0 of 0 of shared memory was written");
#endif
}

TEST_CASE("A word knows its own place") {
  constexpr int kLine = __LINE__ + 2;
  const auto kernel = +[] {
    if (threadIdx.x == 0) __syncwarp();
  };
  CHECK(error_of(1, 32, 0, kernel) ==
        "block (0, 0, 0), warp 0, lane 0: __syncwarp at "
        "errors_test.cpp:" +
            std::to_string(kLine) + " waits for lane 1, which has exited");
}

TEST_CASE("What a thread throws ends the launch, and every stack is unwound") {
  int unwound = 0;
  CHECK_THROWS_AS(simt::run_kernel(1, 128, 0, &throw_in_one_lane, &unwound), int);
  CHECK(unwound > 17);
  CHECK(error_of(1, 32, 0, &ask, 3, kAll) == "");  // and the next launch is none the worse
}
