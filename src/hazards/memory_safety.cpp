#include "src/hazards/memory_safety.h"

#include <algorithm>
#include <limits>

namespace flashcheck {
namespace {

bool views_fit(const Case& c) {
  for (const std::optional<TensorSpec>& tensor : c.tensors) {
    if (!tensor) continue;
    const int64_t span = *tensor->span();
    if (span > 0 && tensor->offset + span > c.storage_elements(*tensor)) return false;
  }
  return true;
}

/// The launch's 32-bit casts kept every size; strides that lost bits only reach less far.
bool sizes_fit(const Case& c) {
  constexpr int64_t kMax = std::numeric_limits<int32_t>::max();
  const auto is_small = [](int64_t size) { return size <= kMax; };
  return std::all_of(c.q().shape.begin(), c.q().shape.end(), is_small) &&
         std::all_of(c.k().shape.begin(), c.k().shape.end(), is_small) &&
         is_small(c.args.max_seqlen_q) && is_small(c.args.max_seqlen_k);
}

/// Kernel and reference read the same lengths: the kernel takes entries for int32, the reference
/// does not.
bool lengths_fit(const HazardContext& context) {
  if (!context.c.function->varlen) return true;
  const auto is_int = [](int64_t value) {
    return value >= 0 && value <= std::numeric_limits<int32_t>::max();
  };
  return std::all_of(context.seqlens_q->begin(), context.seqlens_q->end(), is_int) &&
         std::all_of(context.seqlens_k->begin(), context.seqlens_k->end(), is_int);
}

bool rows_fit(const HazardContext& context) {
  if (!context.c.function->varlen) return true;
  const int64_t total_q = context.c.q().shape[0];
  const int64_t total_k = context.c.k().shape[0];
  for (const LaunchedSequence& s : *context.sequences) {
    if (s.seqlen_q() > 0 && (s.q_begin < 0 || s.q_end > total_q)) return false;
    if (context.c.function->paged) continue;
    if (s.seqlen_k() > 0 && (s.k_begin < 0 || s.k_end > total_k)) return false;
  }
  return true;
}

bool pages_fit(const HazardContext& context) {
  if (!context.c.function->paged) return true;
  const TensorSpec& table = context.c.at(TensorName::kBlockTable);
  const int64_t page = context.c.k().shape[1];
  const int64_t num_blocks = context.c.k().shape[0];
  if (table.shape[0] < static_cast<int64_t>(context.sequences->size())) return false;
  for (size_t b = 0; b < context.sequences->size(); ++b) {
    const int64_t keys = (*context.sequences)[b].seqlen_k();
    // Without query rows neither kernel nor reference reads a key.
    if (keys <= 0 || (*context.sequences)[b].seqlen_q() <= 0) continue;
    if (page == 0 || (keys + page - 1) / page > table.shape[1]) return false;
    for (int64_t entry = 0; entry < (keys + page - 1) / page; ++entry) {
      const std::optional<int64_t> launched = context.launched_page(static_cast<int64_t>(b), entry);
      const int64_t declared = context.declared_page(static_cast<int64_t>(b), entry);
      if (!launched || *launched < 0 || *launched >= num_blocks) return false;
      if (declared < 0 || declared >= num_blocks) return false;
    }
  }
  return true;
}

bool slopes_fit(const HazardContext& context) {
  const TensorSpec* slopes = context.c.find(TensorName::kAlibiSlopes);
  return !slopes || slopes->offset + context.launch.h <= context.c.storage_elements(*slopes);
}

bool ranges_fit(const HazardContext& context) {
  const TensorSpec* ranges = context.c.find(TensorName::kMmPrefixRanges);
  if (!ranges || context.launch.max_mm_prefix_ranges <= 0 || context.launch.b == 0) return true;
  const int64_t last =
      ranges->offset +
      (int64_t{context.launch.b} - 1) * context.launch.mm_prefix_range_batch_stride +
      int64_t{context.launch.max_mm_prefix_ranges} * 2 - 1;
  return last < context.c.storage_elements(*ranges);
}

}  // namespace

bool is_memory_safe(const HazardContext& context) {
  const bool values_known =
      context.sequences && (!context.c.function->paged || context.block_table) &&
      (!context.c.find(TensorName::kMmPrefixRanges) || context.mm_prefix_ranges);
  return values_known && views_fit(context.c) && sizes_fit(context.c) && lengths_fit(context) &&
         rows_fit(context) && pages_fit(context) && slopes_fit(context) && ranges_fit(context);
}

}  // namespace flashcheck
