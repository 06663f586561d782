// Orders drawn from a seed: a kernel that is right gives the same bits in all of them, one that
// lacks a barrier or a wait does not.

#include <cuda_runtime.h>
#include <doctest/doctest.h>

#include <array>
#include <bit>
#include <cstdint>
#include <set>
#include <thread>
#include <vector>

#include "kernels/cuda/ptx.h"
#include "tests/simt/device_memory.h"
#include "tests/simt/run_kernel.h"
#include "tests/simt/schedule.h"

namespace {

namespace ptx = flashcheck::ptx;

constexpr unsigned kThreads = 128, kTileFloats = 4 * kThreads, kTiles = 6, kStages = 2;
constexpr uint64_t kSeeds = 20;

enum class Fault { kNone, kNoWait, kEarlyWait, kNoBarrierBeforeUse, kNoBarrierAfterUse };

/// Adds up the tiles of `from`, each thread what other threads have fetched, with the next tile
/// under way meanwhile.
__global__ void sum_tiles(const float* from, float* sums, Fault fault) {
  auto* shared = reinterpret_cast<float*>(ptx::dynamic_shared_memory());
  const unsigned mine = 4 * threadIdx.x;
  const auto fetch = [&](unsigned tile) {
    if (tile < kTiles) {
      ptx::cp_async_16(shared + tile % kStages * kTileFloats + mine,
                       from + tile * kTileFloats + mine, 16);
    }
    ptx::cp_async_commit();
  };
  float sum = 0;
  fetch(0);
  for (unsigned tile = 0; tile < kTiles; ++tile) {
    fetch(tile + 1);
    if (fault == Fault::kEarlyWait) {
      ptx::cp_async_wait<2>();
    } else if (fault != Fault::kNoWait) {
      ptx::cp_async_wait<1>();
    }
    if (fault != Fault::kNoBarrierBeforeUse) __syncthreads();
    const float* stage = shared + tile % kStages * kTileFloats;
    for (unsigned i = 0; i < 4; ++i) {
      sum += stage[(mine + i * 132) % kTileFloats];
      sum = __shfl_xor_sync(0xFFFFFFFFu, sum, 1);
    }
    if (fault != Fault::kNoBarrierAfterUse) __syncthreads();
  }
  ptx::cp_async_wait<0>();
  sums[threadIdx.x] = sum;
}

std::vector<uint32_t> bits_of_sums(Fault fault, uint64_t seed) {
  alignas(16) std::array<float, kTiles * kTileFloats> from;
  for (std::size_t i = 0; i < from.size(); ++i) from[i] = static_cast<float>(i % 1009) * 0x1p-4f;
  const simt::Schedule schedule(seed);
  std::array<float, kThreads> sums;
  const simt::MappedBytes mapped(from.data(), from.size() * sizeof(float));
  simt::run_kernel(1, kThreads, kStages * kTileFloats * sizeof(float), &sum_tiles, from.data(),
                   sums.data(), fault);
  std::vector<uint32_t> bits;
  for (const float sum : sums) bits.push_back(std::bit_cast<uint32_t>(sum));
  return bits;
}

std::set<std::vector<uint32_t>> outcomes(Fault fault) {
  std::set<std::vector<uint32_t>> outcomes;
  for (uint64_t seed = 0; seed < kSeeds; ++seed) outcomes.insert(bits_of_sums(fault, seed));
  return outcomes;
}

__global__ void take_from_next_lane(int* values) {
  auto* shared = reinterpret_cast<int*>(ptx::dynamic_shared_memory());
  shared[threadIdx.x] = static_cast<int>(threadIdx.x);
  values[threadIdx.x] = shared[(threadIdx.x + 1) % 32];
}

__global__ void note_order(std::vector<unsigned>* blocks) {
  if (threadIdx.x == 0) blocks->push_back(blockIdx.x);
}

std::vector<unsigned> order_of_blocks(uint64_t seed) {
  const simt::Schedule schedule(seed);
  std::vector<unsigned> blocks;
  simt::run_kernel(20, 32, 0, &note_order, &blocks);
  return blocks;
}

}  // namespace

TEST_CASE("A kernel that is right gives the same bits in every order") {
  const auto right = outcomes(Fault::kNone);
  CHECK(right.size() == 1);
}

TEST_CASE("A kernel that lacks a wait or a barrier is seen") {
  const std::vector<uint32_t> right = bits_of_sums(Fault::kNone, 0);
  for (const Fault fault :
       {Fault::kEarlyWait, Fault::kNoBarrierBeforeUse, Fault::kNoBarrierAfterUse, Fault::kNoWait}) {
    CAPTURE(static_cast<int>(fault));
    int num_wrong = 0;
    for (uint64_t seed = 1; seed <= kSeeds; ++seed) num_wrong += bits_of_sums(fault, seed) != right;
    CHECK(num_wrong >= 5);
  }
}

TEST_CASE("In order, copies come so late that a missing wait is seen without a seed") {
  const std::vector<uint32_t> right = bits_of_sums(Fault::kNone, 0);
  CHECK(bits_of_sums(Fault::kNoWait, 0) != right);
  CHECK(bits_of_sums(Fault::kEarlyWait, 0) != right);
}

TEST_CASE("Lanes of a warp that do not wait for each other are seen") {
  std::array<int, 32> values;
  simt::run_kernel(1, 32, sizeof(values), &take_from_next_lane, values.data());
  CHECK(values[0] == -1);  // shared memory starts as 0xFF bytes
}

TEST_CASE("A seed decides the order, and the same seed the same order") {
  const std::vector<unsigned> in_order = order_of_blocks(0);
  for (unsigned i = 0; i < 20; ++i) CHECK(in_order[i] == i);
  CHECK(order_of_blocks(7) == order_of_blocks(7));
  CHECK(order_of_blocks(7) != order_of_blocks(8));
  CHECK(order_of_blocks(7) != in_order);
  CHECK(outcomes(Fault::kNoBarrierBeforeUse) == outcomes(Fault::kNoBarrierBeforeUse));
  const simt::Schedule outer(3);
  { const simt::Schedule inner(4); }
  CHECK(simt::Schedule::current_seed() == 3);
}

TEST_CASE("Threads of the CPU run kernels beside each other") {
  const std::vector<uint32_t> right = bits_of_sums(Fault::kNone, 0);
  std::array<int, 4> num_right{};
  std::vector<std::thread> threads;
  for (std::size_t i = 0; i < num_right.size(); ++i) {
    threads.emplace_back([&, i] {
      for (uint64_t seed = 0; seed < 5; ++seed) {
        num_right[i] += bits_of_sums(Fault::kNone, 5 * i + seed) == right;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (const int num : num_right) CHECK(num == 5);
}
