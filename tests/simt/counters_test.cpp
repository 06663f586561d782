// The figures that layouts are judged by.

#include "tests/simt/counters.h"

#include <cuda_runtime.h>
#include <doctest/doctest.h>

#include <array>
#include <cstddef>
#include <cstdint>

#include "kernels/cuda/ptx.h"
#include "kernels/half.h"
#include "tests/simt/device_memory.h"
#include "tests/simt/run_kernel.h"

namespace {

using simt::Counting;
namespace ptx = flashcheck::ptx;

constexpr int kRowBytes = 128, kRows = 32;

/// Reads a column of 16-byte chunks, each lane one row's; `swizzle` spreads them over the banks.
__global__ void read_column(bool swizzle) {
  const int row = static_cast<int>(threadIdx.x % 32);
  const int chunk = swizzle ? 3 ^ row % 8 : 3;
  uint32_t r[4];
  ptx::ldmatrix_x4(r, ptx::dynamic_shared_memory() + row * kRowBytes + chunk * 16);
  ptx::ldmatrix_x4_trans(r, ptx::dynamic_shared_memory() + row * kRowBytes + chunk * 16);
}

__global__ void read_one_row() {
  uint32_t r[4];
  ptx::ldmatrix_x4(r, ptx::dynamic_shared_memory());
}

/// Eight lanes copy a row of 128 bytes. Rows of `from` are `stride` bytes apart.
__global__ void copy_rows(const std::byte* from, int stride, int num_bytes, bool swizzle) {
  const int chunk = static_cast<int>(threadIdx.x % 8);
  for (int row = static_cast<int>(threadIdx.x / 8); row < kRows; row += 4) {
    const int to = swizzle ? chunk ^ row % 8 : chunk;
    ptx::cp_async_16(ptx::dynamic_shared_memory() + row * kRowBytes + to * 16,
                     from + row * stride + chunk * 16, num_bytes);
  }
  ptx::cp_async_commit();
  ptx::cp_async_wait<0>();
  __syncthreads();
}

/// The same column of every row: eight lanes write to the same four banks.
__global__ void copy_column(const std::byte* from) {
  ptx::cp_async_16(ptx::dynamic_shared_memory() + threadIdx.x * kRowBytes,
                   from + threadIdx.x * kRowBytes, 16);
  ptx::cp_async_commit();
  ptx::cp_async_wait<0>();
}

__global__ void multiply(int times) {
  float c[4] = {};
  const uint32_t a[4] = {};
  for (int i = 0; i < times; ++i) ptx::mma_m16n8k16<flashcheck::Half>(c, a, 0, 0);
  __syncthreads();
}

alignas(128) std::array<std::byte, 256 * kRows + 16> global_bytes{};
const simt::MappedBytes mapped_bytes(global_bytes.data(), global_bytes.size());

}  // namespace

TEST_CASE("A swizzled column has no bank conflict, a plain one eight rows in the same banks") {
  {
    const Counting counting;
    simt::run_kernel(1, 32, kRows * kRowBytes, &read_column, true);
    CHECK(counting.counters.ldmatrix == 2);
    CHECK(counting.counters.ldmatrix_reads.accesses == 8);
    CHECK(counting.counters.ldmatrix_reads.wavefronts == 8);
    CHECK(counting.counters.ldmatrix_reads.conflicts() == 0);
  }
  {
    const Counting counting;
    simt::run_kernel(1, 64, kRows * kRowBytes, &read_column, false);
    CHECK(counting.counters.ldmatrix == 4);
    CHECK(counting.counters.ldmatrix_reads.accesses == 16);
    CHECK(counting.counters.ldmatrix_reads.wavefronts == 16 * 8);
    CHECK(counting.counters.ldmatrix_reads.conflicts() == 16 * 7);
  }
}

TEST_CASE("Lanes that read the same words share them") {
  const Counting counting;
  simt::run_kernel(1, 32, 16, &read_one_row);
  CHECK(counting.counters.ldmatrix_reads.accesses == 4);
  CHECK(counting.counters.ldmatrix_reads.conflicts() == 0);
}

TEST_CASE("Copies count their bytes, sectors and bank conflicts") {
  SUBCASE("whole rows") {
    for (const bool swizzle : {false, true}) {
      const Counting counting;
      simt::run_kernel(1, 32, kRows * kRowBytes, &copy_rows, global_bytes.data(), 256, 16, swizzle);
      CHECK(counting.counters.cp_async_bytes == kRows * kRowBytes);
      CHECK(counting.counters.cp_async_reads.requests == kRows / 4);
      CHECK(counting.counters.cp_async_reads.sectors == kRows * 4);
      CHECK(counting.counters.cp_async_reads.sectors_needed == kRows * 4);
      CHECK(counting.counters.cp_async_writes.accesses == kRows);
      CHECK(counting.counters.cp_async_writes.conflicts() == 0);
      CHECK(counting.counters.barriers == 1);
    }
  }
  SUBCASE("rows that begin in the middle of a sector") {
    const Counting counting;
    simt::run_kernel(1, 32, kRows * kRowBytes, &copy_rows, global_bytes.data() + 16, 256, 16,
                     false);
    CHECK(counting.counters.cp_async_reads.sectors == kRows * 5);
    CHECK(counting.counters.cp_async_reads.sectors_needed == kRows * 4);
  }
  SUBCASE("half of every chunk") {
    const Counting counting;
    simt::run_kernel(1, 32, kRows * kRowBytes, &copy_rows, global_bytes.data(), 256, 8, false);
    CHECK(counting.counters.cp_async_bytes == kRows * kRowBytes / 2);
    CHECK(counting.counters.cp_async_reads.sectors == kRows * 4);
    CHECK(counting.counters.cp_async_reads.sectors_needed == kRows * 2);
  }
  SUBCASE("nothing but zeros") {
    const Counting counting;
    simt::run_kernel(1, 32, kRows * kRowBytes, &copy_rows, global_bytes.data(), 256, 0, false);
    CHECK(counting.counters.cp_async_bytes == 0);
    CHECK(counting.counters.cp_async_reads.requests == 0);
    CHECK(counting.counters.cp_async_reads.sectors == 0);
    CHECK(counting.counters.cp_async_writes.accesses == kRows);
  }
  SUBCASE("a column") {
    const Counting counting;
    simt::run_kernel(1, 32, kRows * kRowBytes, &copy_column, global_bytes.data());
    CHECK(counting.counters.cp_async_reads.requests == 1);
    CHECK(counting.counters.cp_async_reads.sectors == 32);
    CHECK(counting.counters.cp_async_reads.sectors_needed == 16);
    CHECK(counting.counters.cp_async_writes.accesses == 4);
    CHECK(counting.counters.cp_async_writes.wavefronts == 32);
  }
}

TEST_CASE("Products and barriers are counted, and only while something counts") {
  const Counting outer;
  {
    const Counting counting;
    simt::run_kernel(3, 96, 0, &multiply, 5);
    CHECK(counting.counters.blocks == 3);
    CHECK(counting.counters.mma == 3 * 3 * 5);
    CHECK(counting.counters.barriers == 3);
  }
  CHECK(outer.counters.mma == 0);
  simt::run_kernel(1, 32, 0, &multiply, 1);
  CHECK(outer.counters.mma == 1);
}
