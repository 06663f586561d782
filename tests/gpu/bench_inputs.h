#pragma once

#include <cstdint>
#include <vector>

#include "kernels/attention_params.h"
#include "kernels/cuda/device_buffer.h"
#include "kernels/cuda/launch_plan.h"
#include "tests/gpu/bench_shapes.h"

namespace flashcheck::bench {

/// The tensors of a shape on the current device, in as many copies as it takes to push one out of
/// the L2 before it is read again. Owns them.
///
///   q, out  [batch_size][seqlen_q][num_heads][head_dim], random; out holds NaN until it is written
///   k, v    [batch_size][seqlen_k][num_heads_k][head_dim], or
///           [pages][page_block_size][num_heads_k][head_dim] with the pages in random order
class BenchInputs {
 public:
  /// Throws std::bad_alloc if they do not fit, std::runtime_error if a device call fails.
  BenchInputs(const BenchShape& shape, int64_t l2_bytes, const DeviceSize& device);

  const BenchShape& shape() const { return shape_; }
  int64_t num_copies() const { return num_copies_; }
  /// With the device's pointers.
  AttentionParams params(int64_t copy) const;
  const LaunchPlan& plan() const { return plan_; }

  /// The bytes of one copy of q, k and v.
  static int64_t copy_bytes(const BenchShape& shape);

 private:
  AttentionParams scalars() const;  // without pointers

  BenchShape shape_;
  int64_t num_copies_ = 1;
  int64_t pages_a_sequence_ = 0;
  int64_t q_elements_ = 0, kv_elements_ = 0;  // of a copy
  DeviceBuffer q_, k_, v_, out_, lse_, cu_seqlens_q_, cu_seqlens_k_, block_table_;
  DeviceBuffer partial_o_, partial_softmax_;
  LaunchPlan plan_;
};

}  // namespace flashcheck::bench
