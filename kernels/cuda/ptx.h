#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/half.h"

/// The instructions that C++ has no word for, one function each and nothing else: the emulator of
/// tests/simt replaces this file, and this file alone. Names and semantics are those of the PTX ISA
/// (sm_80 and newer). "Collective": all 32 lanes of a warp call it together.
namespace flashcheck::ptx {

/// The block's dynamic shared memory, 128-byte aligned.
__device__ inline std::byte* dynamic_shared_memory() {
  extern __shared__ __align__(128) std::byte memory[];
  return memory;
}

__device__ inline uint32_t shared_address(const void* shared) {
  return static_cast<uint32_t>(__cvta_generic_to_shared(shared));
}

/// Collective: four 8x8 matrices of 16-bit elements. Lane l names row l % 8 of matrix l / 8 (16
/// bytes, 16-byte aligned) and gets of matrix m in r[m] row l / 4, columns 2 * (l % 4) and the next
/// (in the low half and the high half).
__device__ inline void ldmatrix_x4(uint32_t (&r)[4], const void* shared_row) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
               : "r"(shared_address(shared_row))
               : "memory");
}

/// Collective: the same, each matrix transposed on its way.
__device__ inline void ldmatrix_x4_trans(uint32_t (&r)[4], const void* shared_row) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
               : "r"(shared_address(shared_row))
               : "memory");
}

/// Collective: C [16][8] += A [16][16] B [16][8], products of T summed in f32. With g = lane / 4
/// and t = lane % 4 a lane holds, two columns (of B: rows) in a register, the lower in the low
/// half:
///   A  a[0] row g, columns 2t, 2t+1     a[1] row g+8, the same columns
///      a[2] row g, columns 2t+8, 2t+9   a[3] row g+8, the same columns
///   B  b0   rows 2t, 2t+1, column g     b1   rows 2t+8, 2t+9, column g
///   C  c[0], c[1] row g, columns 2t, 2t+1     c[2], c[3] row g+8, the same columns
template <typename T>
__device__ void mma_m16n8k16(float (&c)[4], const uint32_t (&a)[4], uint32_t b0, uint32_t b1);

template <>
__device__ inline void mma_m16n8k16<Half>(float (&c)[4], const uint32_t (&a)[4], uint32_t b0,
                                          uint32_t b1) {
  asm("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 "
      "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
      : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}

template <>
__device__ inline void mma_m16n8k16<BFloat16>(float (&c)[4], const uint32_t (&a)[4], uint32_t b0,
                                              uint32_t b1) {
  asm("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 "
      "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
      : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}

/// Starts to copy 16 bytes; the first `num_bytes` (0 to 16) come from `global`, which is not read
/// beyond them, the others are 0. Both addresses are 16-byte aligned. What it writes is there for
/// this thread after a cp_async_wait that covers its group, for others after a barrier behind that.
__device__ inline void cp_async_16(void* shared, const void* global, int num_bytes) {
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(shared_address(shared)),
               "l"(__cvta_generic_to_global(global)), "r"(num_bytes)
               : "memory");
}

/// Makes one group of this thread's copies since its last commit; it may be empty.
__device__ inline void cp_async_commit() { asm volatile("cp.async.commit_group;" ::: "memory"); }

/// Waits until at most the kPending last groups of this thread are under way.
template <int kPending>
__device__ inline void cp_async_wait() {
  asm volatile("cp.async.wait_group %0;" ::"n"(kPending) : "memory");
}

/// 2^x, relative error at most 2^-22, subnormal results 0; ex2(-inf) = 0, NaN gives NaN.
__device__ inline float ex2_approx(float x) {
  float y;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
}

/// Two values rounded to T (nearest, ties to even), `low` in the low half.
template <typename T>
__device__ uint32_t pack(float low, float high);

template <>
__device__ inline uint32_t pack<Half>(float low, float high) {
  uint32_t both;
  asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(both) : "f"(high), "f"(low));
  return both;
}

template <>
__device__ inline uint32_t pack<BFloat16>(float low, float high) {
  uint32_t both;
  asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(both) : "f"(high), "f"(low));
  return both;
}

}  // namespace flashcheck::ptx
