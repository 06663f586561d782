#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>

#include "kernels/half.h"
#include "tests/simt/lane_words.h"
#include "tests/simt/matrices.h"
#include "tests/simt/site.h"

/// What kernels/cuda/ptx.h declares, for the emulator; each word remembers where it was said.
namespace flashcheck::ptx {

inline std::byte* dynamic_shared_memory() { return simt::dynamic_shared_memory(); }

inline void ldmatrix_x4(uint32_t (&r)[4], const void* shared_row,
                        simt::Site site = simt::Site::here()) {
  simt::load_matrices(r, shared_row, false, site);
}

inline void ldmatrix_x4_trans(uint32_t (&r)[4], const void* shared_row,
                              simt::Site site = simt::Site::here()) {
  simt::load_matrices(r, shared_row, true, site);
}

template <typename T>
void mma_m16n8k16(float (&c)[4], const uint32_t (&a)[4], uint32_t b0, uint32_t b1,
                  simt::Site site = simt::Site::here()) {
  simt::multiply_add<T>(c, a, b0, b1, site);
}

inline void cp_async_16(void* shared, const void* global, int num_bytes,
                        simt::Site site = simt::Site::here()) {
  simt::start_copy(shared, global, num_bytes, site);
}

inline void cp_async_commit() { simt::commit_copies(); }

template <int kPending>
void cp_async_wait() {
  static_assert(kPending >= 0);
  simt::wait_for_copies(kPending);
}

inline float ex2_approx(float x) { return simt::ex2_approx(x); }

template <typename T>
uint32_t pack(float low, float high) {
  return uint32_t{from_float<T>(high).bits} << 16 | from_float<T>(low).bits;
}

}  // namespace flashcheck::ptx
