#include "src/hazards/hazard_context.h"

#include <algorithm>

namespace flashcheck {
namespace {

/// The kernels read u32 tables as int32_t (candle-flash-attn/src/lib.rs:777-778), and differences
/// of theirs wrap.
int64_t as_int32(int64_t value) { return static_cast<int32_t>(static_cast<uint32_t>(value)); }

/// Row offsets go back to unsigned, except that -1 is the "no table" marker, which makes it
/// batch * batch_stride, and that stride is 0 in a varlen call (kernels/block_info.h:29).
int64_t row_begin(int64_t value) { return value == 0xFFFFFFFF ? 0 : value; }

std::vector<LaunchedSequence> launched_sequences(const HazardContext& context) {
  std::vector<LaunchedSequence> sequences;
  const bool varlen = context.c.function->varlen;
  for (int64_t b = 0; b < context.launch.b; ++b) {
    LaunchedSequence s{.q_end = context.launch.seqlen_q, .k_end = context.launch.seqlen_k};
    if (varlen) {
      const auto& cu_q = *context.seqlens_q;
      const auto& cu_k = *context.seqlens_k;
      const size_t i = static_cast<size_t>(b);
      s.q_begin = row_begin(cu_q[i]);
      s.k_begin = row_begin(cu_k[i]);
      s.q_end = s.q_begin + as_int32(cu_q[i + 1] - cu_q[i]);
      s.k_end = s.k_begin + as_int32(cu_k[i + 1] - cu_k[i]);
    }
    sequences.push_back(s);
  }
  return sequences;
}

}  // namespace

int64_t HazardContext::reachable_keys(const LaunchedSequence& sequence) const {
  const int64_t keys = std::max<int64_t>(sequence.seqlen_k(), 0);
  if (!c.function->paged || c.function->wrapper == Wrapper::kNone) return keys;
  const int64_t cap = (int64_t{launch.seqlen_k} + 31) / 32 * 32;
  return std::min(keys, cap);
}

int64_t HazardContext::declared_page(int64_t sequence, int64_t entry) const {
  const int64_t columns = c.at(TensorName::kBlockTable).shape[1];
  return as_int32((*block_table)[static_cast<size_t>(sequence * columns + entry)]);
}

std::optional<int64_t> HazardContext::launched_page(int64_t sequence, int64_t entry) const {
  const TensorSpec& table = c.at(TensorName::kBlockTable);
  const int64_t at = table.offset + sequence * launch.block_table_batch_stride + entry;
  if (at >= c.storage_elements(table)) return std::nullopt;
  const StorageBytes& storage = small.storages[static_cast<size_t>(table.storage)];
  return as_int32(read_integer(storage, table.dtype, at));
}

HazardContext make_hazard_context(const Case& c, const LaunchParams& launch, const Inputs& small) {
  HazardContext context{.c = c,
                        .launch = launch,
                        .is_v3 = launch.wrapper == Wrapper::kCandleFlashAttnV3,
                        .seqlens_q = known_integers(c, TensorName::kSeqlensQ, small),
                        .seqlens_k = known_integers(c, TensorName::kSeqlensK, small),
                        .block_table = known_integers(c, TensorName::kBlockTable, small),
                        .mm_prefix_ranges = known_integers(c, TensorName::kMmPrefixRanges, small),
                        .small = small};
  // A fixed-length batch has one shape: one entry would do, but rules speak of sequences.
  const bool is_known = !c.function->varlen || (context.seqlens_q && context.seqlens_k);
  if (is_known && launch.b <= 1'000'000) context.sequences = launched_sequences(context);
  return context;
}

}  // namespace flashcheck
