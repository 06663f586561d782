#include <fmt/format.h>

#include <string>

#include "src/hazards/addresses.h"
#include "src/hazards/families.h"
#include "src/hazards/kernel_mask.h"

namespace flashcheck {
namespace {

using std::to_string;

void check_pair_stride(const HazardContext& context, const Rule& rule, const EmitHazard& emit) {
  const TensorSpec* ranges = context.c.find(TensorName::kMmPrefixRanges);
  if (!ranges || ranges->shape[1] < 2 || ranges->strides[1] == 2) return;
  emit(make_finding(rule, "/tensors/mm_prefix_ranges/strides/1",
                    {{"stride", to_string(ranges->strides[1])}}));
}

void check_ranges(const HazardContext& context, const Rule& rule, const EmitHazard& emit) {
  if (!context.mm_prefix_ranges) return;
  const int64_t count = context.c.at(TensorName::kMmPrefixRanges).shape[1];
  for_each_sequence(context, [&](int64_t b, const LaunchedSequence& s) {
    for (int64_t r = 0; r < count; ++r) {
      const size_t at = static_cast<size_t>((b * count + r) * 2);
      const int64_t begin = (*context.mm_prefix_ranges)[at];
      const int64_t end = (*context.mm_prefix_ranges)[at + 1];
      std::string effect;
      if (begin > end) effect = "begins after it ends, and is ignored";
      if (begin < end && begin < 0) effect = "begins before key 0, and is clipped";
      if (begin < end && end > s.seqlen_k()) {
        effect = fmt::format("ends past the {} keys, and is clipped", s.seqlen_k());
      }
      if (effect.empty()) continue;
      emit(make_finding(rule, fmt::format("/tensors/mm_prefix_ranges/values/{}/{}", b, r),
                        {{"sequence", to_string(b)},
                         {"range", to_string(r)},
                         {"begin", to_string(begin)},
                         {"end", to_string(end)},
                         {"effect", effect}}));
    }
  });
}

void check_mask(const HazardContext& context, const Rule& rule, const EmitHazard& emit) {
  const bool is_full = !context.launch.is_causal && !is_local(context.launch);
  if (!context.c.find(TensorName::kMmPrefixRanges) || !is_full) return;
  emit(make_finding(rule, "/args/window_size_right", {}));
}

void check_left_limit(const HazardContext& context, const Rule& rule, const EmitHazard& emit) {
  const WindowMask declared = declared_mask(context.c);
  const bool is_causal = declared.right == 0;
  if (!context.c.find(TensorName::kMmPrefixRanges) || !is_causal || drops_window(context)) return;
  const int64_t maximum = context.launch.seqlen_k;
  int64_t longest = 0;
  for_each_sequence(context, [&](int64_t, const LaunchedSequence& s) {
    longest = std::max(longest, s.seqlen_k());
  });
  for_each_sequence(context, [&](int64_t b, const LaunchedSequence& s) {
    if (s.seqlen_k() <= maximum || !left_differs(declared, kernel_mask(context), s)) return;
    Finding finding = make_finding(rule, "/args/max_seqlen_k",
                                   {{"sequence", to_string(b)},
                                    {"length", to_string(s.seqlen_k())},
                                    {"max_seqlen_k", to_string(maximum)}});
    finding.fix = fmt::format("pass max_seqlen_k = {}, the longest key length", longest);
    emit(std::move(finding));
  });
}

void check_extent(const HazardContext& context, const Rule& rule, const EmitHazard& emit) {
  const TensorSpec* ranges = context.c.find(TensorName::kMmPrefixRanges);
  const int64_t count = context.launch.max_mm_prefix_ranges;
  if (!ranges || count <= 0 || context.launch.b == 0) return;
  const int64_t elements = context.c.storage_elements(*ranges);
  const Address last = address_of(ranges->offset, {{"sequence", int64_t{context.launch.b} - 1,
                                                    context.launch.mm_prefix_range_batch_stride},
                                                   {"number", count * 2 - 1, 1}});
  if (last.is_inside(elements)) return;
  Finding finding = make_finding(rule, "/tensors/mm_prefix_ranges",
                                 {{"count", to_string(count)}, {"elements", to_string(elements)}});
  finding.details.push_back("mm_prefix_ranges is read at " + against_storage(last, elements));
  emit(std::move(finding));
}

constexpr HazardRule kRules[] = {
    {.rule = {.code = "FC-H309",
              .name = "prefix-ranges-stride-ignored",
              .severity = Severity::kError,
              .message = "mm_prefix_ranges has a stride of {stride} between ranges, and the kernel "
                         "reads pair after pair: 2",
              .why = "Only the last stride is checked and only the first reaches the kernel: of a "
                     "view with another stride in the middle, other pairs are read.",
              .fix = "Pass mm_prefix_ranges.contiguous().",
              .source = "candle-flash-attn/src/lib.rs:637, 640-645; kernels/mask.h:144-145"},
     .kind = HazardKind::kWrong,
     .callees = kV2 | kDirect,
     .check = check_pair_stride},
    {.rule = {.code = "FC-H310",
              .name = "prefix-range-out-of-place",
              .severity = Severity::kWarning,
              .message = "sequence {sequence}: range {range} is [{begin}, {end}): it {effect}",
              .why = "Ranges are half-open [begin, end) in absolute positions of the key sequence. "
                     "Those that do not fit are cut or skipped, and nothing is reported.",
              .fix = "Correct the range; padding is a range with begin equal to end.",
              .source = "kernels/mask.h:137-153; kernels/flash_fwd_kernel.h:66-68"},
     .kind = HazardKind::kWrong,
     .callees = kV2,
     .check = check_ranges},
    {.rule = {.code = "FC-H311",
              .name = "prefix-ranges-without-mask",
              .severity = Severity::kInformation,
              .message =
                  "mm_prefix_ranges has no effect: attention is full, so there is nothing to "
                  "open",
              .why =
                  "Ranges add pairs that a causal mask or a window hides. With both windows None "
                  "(or over max_seqlen_k) nothing is hidden.",
              .fix = "Pass window_size_right 0 for causal attention with open ranges.",
              .source = "kernels/mask.h:215-226"},
     .kind = HazardKind::kInformation,
     .callees = kV2,
     .check = check_mask},
    {.rule = {.code = "FC-H312",
              .name = "prefix-ranges-limit-the-past",
              .severity = Severity::kError,
              .message =
                  "sequence {sequence}: rows outside the ranges see {max_seqlen_k} keys back "
                  "and no more, its length is {length}",
              .why = "With ranges, causal attention runs in the window kernel, with a left window "
                     "of max_seqlen_k: too small a maximum cuts old keys.",
              .fix = "Pass the longest key length as max_seqlen_k.",
              .source = "candle-flash-attn/src/lib.rs:697-699"},
     .kind = HazardKind::kWrong,
     .callees = kV2,
     .check = check_left_limit},
    {.rule = {.code = "FC-H313",
              .name = "prefix-ranges-read-past-storage",
              .severity = Severity::kError,
              .message = "mm_prefix_ranges: {count} pairs a sequence are read past the end of a "
                         "storage of {elements}",
              .why = "The kernel reads pair r at 2 * r whatever the stride says: of a broadcast "
                     "view of few elements, past its end.",
              .fix = "Pass mm_prefix_ranges.contiguous().",
              .source = "kernels/mask.h:144-145; kernels/flash_fwd_kernel.h:66-67"},
     .kind = HazardKind::kOutOfBoundsRead,
     .callees = kV2 | kDirect,
     .check = check_extent},
};

}  // namespace

std::span<const HazardRule> prefix_range_hazards() { return kRules; }

}  // namespace flashcheck
