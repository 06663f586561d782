// CUDA's words, one after the other, in kernels that use them as they are meant.

#include <cuda_runtime.h>
#include <doctest/doctest.h>

#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "kernels/cuda/ptx.h"
#include "kernels/half.h"
#include "tests/simt/device_memory.h"
#include "tests/simt/run_kernel.h"

namespace {

using flashcheck::BFloat16;
using flashcheck::Half;
using simt::run_kernel;
namespace ptx = flashcheck::ptx;

constexpr unsigned kAll = 0xFFFFFFFFu;

struct Position {
  uint3 thread, block, block_extent, grid_extent;
};

__global__ void note_position(Position* positions) {
  const unsigned block = (blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x;
  const unsigned thread = (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
  const unsigned threads = blockDim.x * blockDim.y * blockDim.z;
  __syncthreads();  // other threads run before this one goes on
  positions[block * threads + thread] = {threadIdx, blockIdx, blockDim, gridDim};
}

bool is(const uint3& a, unsigned x, unsigned y, unsigned z) {
  return a.x == x && a.y == y && a.z == z;
}

__global__ void shuffle(int* from_lane_5, float* from_pair, int* in_groups, int64_t* beyond) {
  const int lane = static_cast<int>(threadIdx.x);
  from_lane_5[lane] = __shfl_sync(kAll, 100 + lane, 5);
  from_pair[lane] = __shfl_xor_sync(kAll, static_cast<float>(lane) + 0.5f, 1);
  in_groups[lane] = __shfl_sync(kAll, lane, 2, 8);
  // Groups of 8: 15 = 7 + 8 leaves the group upwards, where a lane keeps its own.
  beyond[lane] = __shfl_xor_sync(kAll, (int64_t{1} << 40) + lane, 8, 8);
}

__global__ void shuffle_half(int* values) {
  const int lane = static_cast<int>(threadIdx.x);
  values[lane] = -1;
  if (lane >= 16) values[lane] = __shfl_xor_sync(0xFFFF0000u, lane, 3);
}

__global__ void vote(unsigned* ballots, int* anys) {
  const int lane = static_cast<int>(threadIdx.x);
  ballots[lane] = __ballot_sync(kAll, lane % 3);
  anys[2 * lane] = __any_sync(kAll, lane == 17);
  anys[2 * lane + 1] = __any_sync(kAll, lane == 32);
}

__global__ void turn_round(float* values) {
  auto* shared = reinterpret_cast<float*>(ptx::dynamic_shared_memory());
  shared[threadIdx.x] = values[threadIdx.x];
  __syncthreads();
  values[threadIdx.x] = shared[blockDim.x - 1 - threadIdx.x];
}

__global__ void pass_to_next_lane(int* values) {
  auto* shared = reinterpret_cast<int*>(ptx::dynamic_shared_memory());
  shared[threadIdx.x] = static_cast<int>(threadIdx.x);
  __syncwarp();
  values[threadIdx.x] = shared[(threadIdx.x + 1) % 32];
}

__global__ void vote_of_block(int* results, unsigned who) {
  results[2 * threadIdx.x] = __syncthreads_or(threadIdx.x == who);
  results[2 * threadIdx.x + 1] = __syncthreads_or(0);
}

__global__ void copy_in_two_groups(const float* from, float* to) {
  auto* shared = reinterpret_cast<float*>(ptx::dynamic_shared_memory());
  const unsigned first = 4 * threadIdx.x, second = first + 4 * blockDim.x;
  ptx::cp_async_16(shared + first, from + first, 16);
  ptx::cp_async_commit();
  ptx::cp_async_16(shared + second, from + second, 12);
  ptx::cp_async_commit();
  ptx::cp_async_wait<1>();
  for (unsigned i = 0; i < 4; ++i) to[first + i] = shared[first + i];
  to[2 * second] = shared[second];
  ptx::cp_async_wait<0>();
  for (unsigned i = 0; i < 4; ++i) to[second + i] = shared[second + i];
}

}  // namespace

TEST_CASE("Every thread of a grid knows where it is") {
  const dim3 grid(2, 3, 2), block(5, 4, 3);
  std::vector<Position> positions(12 * 60);
  run_kernel(grid, block, 0, &note_position, positions.data());
  std::size_t i = 0;
  for (unsigned number = 0; number < 12; ++number) {
    for (unsigned z = 0; z < 3; ++z) {
      for (unsigned y = 0; y < 4; ++y) {
        for (unsigned x = 0; x < 5; ++x, ++i) {
          CHECK(is(positions[i].thread, x, y, z));
          CHECK(is(positions[i].block, number % 2, number / 2 % 3, number / 6));
          CHECK(is(positions[i].block_extent, 5, 4, 3));
          CHECK(is(positions[i].grid_extent, 2, 3, 2));
        }
      }
    }
  }
}

TEST_CASE("Shuffles bring the value of the lane that is named") {
  std::array<int, 32> from_lane_5, in_groups;
  std::array<float, 32> from_pair;
  std::array<int64_t, 32> beyond;
  run_kernel(1, 32, 0, &shuffle, from_lane_5.data(), from_pair.data(), in_groups.data(),
             beyond.data());
  for (unsigned lane = 0; lane < 32; ++lane) {
    CHECK(from_lane_5[lane] == 105);
    CHECK(from_pair[lane] == static_cast<float>(lane ^ 1) + 0.5f);
    CHECK(in_groups[lane] == static_cast<int>(lane / 8 * 8 + 2));
    // A lane of a lower group may be asked, one of a higher group not.
    const int source = static_cast<int>(lane % 16 < 8 ? lane : lane - 8);
    CHECK(beyond[lane] == (int64_t{1} << 40) + source);
  }
}

TEST_CASE("Half a warp may shuffle without the other") {
  std::array<int, 32> values;
  run_kernel(1, 32, 0, &shuffle_half, values.data());
  for (int lane = 0; lane < 32; ++lane) {
    CHECK(values[static_cast<unsigned>(lane)] == (lane < 16 ? -1 : lane ^ 3));
  }
}

TEST_CASE("Votes count every lane") {
  std::array<unsigned, 32> ballots;
  std::array<int, 64> anys;
  run_kernel(1, 32, 0, &vote, ballots.data(), anys.data());
  unsigned expected = 0;
  for (unsigned lane = 0; lane < 32; ++lane) expected |= (lane % 3 != 0 ? 1u : 0u) << lane;
  for (unsigned lane = 0; lane < 32; ++lane) {
    CHECK(ballots[lane] == expected);
    CHECK(anys[2 * lane] != 0);
    CHECK(anys[2 * lane + 1] == 0);
  }
}

TEST_CASE("Behind a barrier all threads see what the others wrote") {
  constexpr unsigned kThreads = 200;  // the last warp has 8 lanes
  std::vector<float> values(kThreads);
  for (unsigned i = 0; i < kThreads; ++i) values[i] = static_cast<float>(i);
  run_kernel(1, kThreads, sizeof(float) * kThreads, &turn_round, values.data());
  for (unsigned i = 0; i < kThreads; ++i) CHECK(values[i] == static_cast<float>(kThreads - 1 - i));

  std::array<int, 32> lanes;
  run_kernel(1, 32, sizeof(lanes), &pass_to_next_lane, lanes.data());
  for (unsigned i = 0; i < 32; ++i) CHECK(lanes[i] == static_cast<int>((i + 1) % 32));
}

TEST_CASE("A barrier tells all threads whether one of them says yes") {
  std::vector<int> results(2 * 96);
  for (const unsigned who : {0u, 50u, 95u, 96u}) {
    run_kernel(1, 96, 0, &vote_of_block, results.data(), who);
    for (unsigned i = 0; i < 96; ++i) {
      CHECK((results[2 * i] != 0) == (who < 96));
      CHECK(results[2 * i + 1] == 0);
    }
  }
}

TEST_CASE("Asynchronous copies arrive at the wait that covers their group, and pad with 0") {
  constexpr unsigned kThreads = 64, kFloats = 8 * kThreads;
  auto from = std::vector<float>(kFloats);
  for (unsigned i = 0; i < kFloats; ++i) from[i] = static_cast<float>(i + 1);
  alignas(16) std::array<float, kFloats> aligned;
  std::copy(from.begin(), from.end(), aligned.begin());
  std::vector<float> to(3 * kFloats);
  const simt::MappedBytes mapped(aligned.data(), sizeof(aligned));
  run_kernel(1, kThreads, sizeof(float) * kFloats, &copy_in_two_groups, aligned.data(), to.data());
  for (unsigned i = 0; i < kFloats; ++i) {
    const bool is_padding = i >= kFloats / 2 && i % 4 == 3;
    CHECK(to[i] == (is_padding ? 0.0f : from[i]));
  }
  for (unsigned thread = 0; thread < kThreads; ++thread) {
    CHECK(std::isnan(to[2 * (4 * thread + 4 * kThreads)]));  // read before its wait
  }
}

TEST_CASE("ex2_approx keeps its promise and no more") {
  CHECK(ptx::ex2_approx(0.0f) == 1.0f);
  CHECK(ptx::ex2_approx(-0.0f) == 1.0f);
  CHECK(ptx::ex2_approx(1e-40f) == 1.0f);
  CHECK(ptx::ex2_approx(-std::numeric_limits<float>::infinity()) == 0.0f);
  CHECK(std::isinf(ptx::ex2_approx(std::numeric_limits<float>::infinity())));
  CHECK(std::isinf(ptx::ex2_approx(128.0f)));
  CHECK(std::isnan(ptx::ex2_approx(std::numeric_limits<float>::quiet_NaN())));
  CHECK(ptx::ex2_approx(-126.5f) == 0.0f);
  CHECK(ptx::ex2_approx(-125.5f) > 0.0f);

  int num_inexact = 0;
  double largest = 0;
  for (int i = 0; i < 20000; ++i) {
    const float x = -20.0f + static_cast<float>(i) * 0x1.1p-10f;
    const double exact = std::exp2(static_cast<double>(x));
    const double error = std::abs(static_cast<double>(ptx::ex2_approx(x)) / exact - 1);
    largest = std::max(largest, error);
    num_inexact += ptx::ex2_approx(x) != static_cast<float>(exact);
    CHECK(ptx::ex2_approx(x) == ptx::ex2_approx(x));
  }
  CHECK(largest <= 0x1p-22);
  CHECK(largest > 0x1.6p-23);
  CHECK(num_inexact > 10000);
}

TEST_CASE("pack rounds to nearest even and keeps the order") {
  CHECK(ptx::pack<Half>(1.0f, -2.0f) == 0xC0003C00u);
  CHECK(ptx::pack<Half>(1.0f + 0x1p-11f, 1.0f + 0x1.8p-10f) == 0x3C023C00u);
  CHECK(ptx::pack<BFloat16>(1.0f, -2.0f) == 0xC0003F80u);
  CHECK(ptx::pack<BFloat16>(1.0f + 0x1p-8f, 1.0f + 0x1.8p-7f) == 0x3F823F80u);
}
