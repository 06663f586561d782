#pragma once

#include <cstdint>
#include <type_traits>

#include "src/spec/dtype.h"
#include "src/spec/launch_params.h"

namespace flashcheck {

/// A launch with its pointers: all that a kernel gets, on a GPU by value. Owns nothing.
/// Only a call that passed the contract and the memory-safety rules becomes one: kernels check
/// nothing.
struct AttentionParams {
  LaunchParams launch;
  Dtype dtype = Dtype::kF16;  // of q, k, v, out: f16, bf16 or f32

  const void* q = nullptr;  // the tensor's first element, its offset included; likewise below
  const void* k = nullptr;
  const void* v = nullptr;
  void* out = nullptr;   // contiguous, in q's shape
  float* lse = nullptr;  // natural log; [h, total_q] if launch.unpadded_lse, else [b, h, seqlen_q]

  const int32_t* cu_seqlens_q = nullptr;      // [b + 1], or null: every sequence has seqlen_q rows
  const int32_t* cu_seqlens_k = nullptr;      // [b + 1], or null
  const float* alibi_slopes = nullptr;        // [h], or null
  const int32_t* block_table = nullptr;       // [b, block_table_batch_stride], or null: not paged
  const int32_t* mm_prefix_ranges = nullptr;  // pairs; sequence b's start at b * batch stride
  bool rounds_p = true;  // P goes to the input dtype before P.V (f32: no effect)
};

static_assert(std::is_trivially_copyable_v<AttentionParams>);

}  // namespace flashcheck
