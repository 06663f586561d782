#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "src/spec/case.h"
#include "src/spec/launch_params.h"
#include "src/spec/tensor.h"

namespace flashcheck {

/// One sequence as the kernel will see it: the tables read as int32, differences as int.
struct LaunchedSequence {
  int64_t q_begin = 0, q_end = 0;  // rows of q and out; fixed-length: within the batch entry
  int64_t k_begin = 0, k_end = 0;  // rows of k and v (flat), or a difference alone (paged)
  int64_t seqlen_q() const { return q_end - q_begin; }
  int64_t seqlen_k() const { return k_end - k_begin; }
};

/// A table of lengths that were not summed up, and what shows it: "they add up to 10, q's rows".
struct PlainLengths {
  TensorName name = TensorName::kSeqlensQ;
  std::vector<int64_t> values;
  std::string because;
};

/// What hazard rules look at: the case, the launch, and the small tensors' values where known.
struct HazardContext {
  const Case& c;
  const LaunchParams& launch;
  bool is_v3 = false;
  /// Values in logical order; nothing where the case gives none.
  std::optional<std::vector<int64_t>> seqlens_q, seqlens_k, block_table, mm_prefix_ranges;
  /// Nothing if a varlen call's tables are unknown.
  std::optional<std::vector<LaunchedSequence>> sequences;
  /// Tables that were set aside (src/hazards/plain_lengths.h): not among the values above.
  std::vector<PlainLengths> plain_lengths;

  /// Keys of a sequence that the kernel can reach whatever the mask: a paged kernel stops at the
  /// 32-key tile that max_seqlen_k ends in (kernels/flash_fwd_kernel.h:564-568).
  int64_t reachable_keys(const LaunchedSequence& sequence) const;

  /// Entry of the block table as the case declares it, read as int32.
  /// Precondition: block_table is known and has it.
  int64_t declared_page(int64_t sequence, int64_t entry) const;
  /// The entry that the kernel reads for it: the wrapper passes the table's columns as its row
  /// stride. Nothing if that is outside the storage. Precondition: block_table is known.
  std::optional<int64_t> launched_page(int64_t sequence, int64_t entry) const;

  const Inputs& small;
};

/// Calls f(number, sequence) for every sequence; for none where the lengths are unknown.
template <typename F>
void for_each_sequence(const HazardContext& context, F&& f) {
  if (!context.sequences) return;
  int64_t number = 0;
  for (const LaunchedSequence& sequence : *context.sequences) f(number++, sequence);
}

HazardContext make_hazard_context(const Case& c, const LaunchParams& launch, const Inputs& small);

}  // namespace flashcheck
