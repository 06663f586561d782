#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "src/hazards/families.h"
#include "src/hazards/kernel_mask.h"
#include "src/hazards/tile_sizes.h"

namespace flashcheck {
namespace {

using std::to_string;

int64_t longest_q(const HazardContext& context) {
  int64_t longest = 0;
  for_each_sequence(context, [&](int64_t, const LaunchedSequence& s) {
    longest = std::max(longest, s.seqlen_q());
  });
  return longest;
}

int64_t longest_k(const HazardContext& context) {
  int64_t longest = 0;
  for_each_sequence(context, [&](int64_t, const LaunchedSequence& s) {
    longest = std::max(longest, s.seqlen_k());
  });
  return longest;
}

void check_grid(const HazardContext& context, const Rule& rule, const EmitHazard& emit) {
  const int64_t maximum = context.launch.seqlen_q;
  if (!context.c.function->varlen || maximum == 0) return;
  const TileSizes tile = tile_sizes(*context.c.function, context.launch);
  const int64_t covered = round_up(maximum, tile.min_query_rows);
  const int64_t longest = longest_q(context);
  for_each_sequence(context, [&](int64_t b, const LaunchedSequence& s) {
    if (s.seqlen_q() <= covered) return;
    Finding finding = make_finding(rule, "/args/max_seqlen_q",
                                   {{"sequence", to_string(b)},
                                    {"first", to_string(covered)},
                                    {"last", to_string(s.seqlen_q() - 1)},
                                    {"max_seqlen_q", to_string(maximum)},
                                    {"tile", to_string(tile.min_query_rows)}});
    if (tile.max_query_rows != tile.min_query_rows) {
      const int64_t wide = round_up(maximum, tile.max_query_rows);
      finding.details.push_back(fmt::format(
          "on devices where this kernel's tile has {} rows, {}", tile.max_query_rows,
          wide >= s.seqlen_q() ? "all rows are written: it depends on the GPU"
                               : fmt::format("rows {}..{} are not", wide, s.seqlen_q() - 1)));
    }
    finding.fix = fmt::format("pass max_seqlen_q = {}, the longest query", longest);
    emit(std::move(finding));
  });
}

void check_empty_grid(const HazardContext& context, const Rule& rule, const EmitHazard& emit) {
  if (!context.c.function->varlen || context.launch.seqlen_q != 0) return;
  const int64_t total_q = context.c.q().shape[0];
  if (total_q == 0) return;
  Finding finding = make_finding(rule, "/args/max_seqlen_q", {{"total_q", to_string(total_q)}});
  finding.fix =
      fmt::format("pass the longest query{}",
                  longest_q(context) > 0 ? fmt::format(": max_seqlen_q = {}", longest_q(context))
                                         : " as max_seqlen_q");
  emit(std::move(finding));
}

void check_key_cap(const HazardContext& context, const Rule& rule, const EmitHazard& emit) {
  if (!context.c.function->paged) return;
  const int64_t maximum = context.launch.seqlen_k;
  const int64_t cap = round_up(maximum, 32);
  const int64_t longest = longest_k(context);
  for_each_sequence(context, [&](int64_t b, const LaunchedSequence& s) {
    if (s.seqlen_q() <= 0 || s.seqlen_k() <= cap) return;
    Finding finding = make_finding(rule, "/args/max_seqlen_k",
                                   {{"sequence", to_string(b)},
                                    {"first", to_string(cap)},
                                    {"last", to_string(s.seqlen_k() - 1)},
                                    {"length", to_string(s.seqlen_k())},
                                    {"max_seqlen_k", to_string(maximum)}});
    finding.details.push_back(
        "the paged kernel alone stops there; the same numbers without a block table are right");
    finding.fix = fmt::format("pass max_seqlen_k = {}, the longest key length", longest);
    emit(std::move(finding));
  });
}

std::string side(std::optional<int64_t> window, const char* none) {
  return window ? to_string(*window) : none;
}

void check_window_filter(const HazardContext& context, const Rule& rule, const EmitHazard& emit) {
  if (!context.c.function->varlen || drops_window(context)) return;
  const WindowMask declared = declared_mask(context.c);
  const WindowMask used = kernel_mask(context);
  const int64_t maximum = context.launch.seqlen_k;
  const bool left_is_from_ranges =
      context.c.find(TensorName::kMmPrefixRanges) && declared.right == 0;
  const int64_t longest = longest_k(context);
  for_each_sequence(context, [&](int64_t b, const LaunchedSequence& s) {
    if (s.seqlen_k() <= maximum) return;
    const bool left = !left_is_from_ranges && left_differs(declared, used, s);
    if (!left && !right_differs(declared, used, s)) return;
    const char* name = left ? "window_size_left" : "window_size_right";
    Finding finding =
        make_finding(rule, "/args/max_seqlen_k",
                     {{"sequence", to_string(b)},
                      {"length", to_string(s.seqlen_k())},
                      {"max_seqlen_k", to_string(maximum)},
                      {"window", name},
                      {"declared", side(left ? declared.left : declared.right, "None")},
                      {"used", side(left ? used.left : used.right, "no limit")}});
    finding.fix = fmt::format("pass max_seqlen_k = {}, the longest key length", longest);
    emit(std::move(finding));
  });
}

void check_within_tile(const HazardContext& context, const Rule& rule, const EmitHazard& emit) {
  const int64_t maximum = context.launch.seqlen_q;
  if (!context.c.function->varlen || maximum == 0) return;
  const TileSizes tile = tile_sizes(*context.c.function, context.launch);
  const int64_t longest = longest_q(context);
  if (longest <= maximum || longest > round_up(maximum, tile.min_query_rows)) return;
  emit(make_finding(rule, "/args/max_seqlen_q",
                    {{"max_seqlen_q", to_string(maximum)},
                     {"longest", to_string(longest)},
                     {"tile", to_string(tile.min_query_rows)}}));
}

void check_empty(const HazardContext& context, const Rule& rule, const EmitHazard& emit) {
  if (context.c.q().num_elements() != 0) return;
  emit(make_finding(rule, "/tensors/q/shape",
                    {{"shape", fmt::format("[{}]", fmt::join(context.c.q().shape, ", "))}}));
}

constexpr HazardRule kRules[] = {
    {.rule = {.code = "FC-H209",
              .name = "max-seqlen-q-too-small",
              .severity = Severity::kError,
              .message = "sequence {sequence}: output rows {first}..{last} are never written: "
                         "max_seqlen_q {max_seqlen_q} covers {first} rows, in tiles of {tile}",
              .why = "The grid is made from max_seqlen_q. Rows past the last tile keep whatever "
                     "the output's memory held.",
              .fix = "Pass the longest query length as max_seqlen_q.",
              .source = "kernels/flash_fwd_launch_template.h:61-62, 104-105"},
     .kind = HazardKind::kUnwritten,
     .callees = kV2,
     .check = check_grid},
    {.rule = {.code = "FC-H210",
              .name = "max-seqlen-q-zero",
              .severity = Severity::kError,
              .message = "max_seqlen_q is 0: nothing runs, and all {total_q} rows of the output "
                         "are never written",
              .why = "A grid of 0 blocks is a launch error, which the wrapper drops: Ok is "
                     "returned with an output of old memory.",
              .fix = "Pass the longest query length as max_seqlen_q.",
              .source = "kernels/error.h:3-8; kernels/flash_fwd_launch_template.h:61-62"},
     .kind = HazardKind::kUnwritten,
     .callees = kV2,
     .check = check_empty_grid},
    {.rule = {.code = "FC-H211",
              .name = "max-seqlen-k-truncates",
              .severity = Severity::kError,
              .message = "sequence {sequence}: keys {first}..{last} get no weight: its length is "
                         "{length}, max_seqlen_k is {max_seqlen_k}",
              .why = "The paged kernel visits ceil(max_seqlen_k / 32) tiles of 32 keys; the mask "
                     "stays aligned to the true length.",
              .fix = "Pass the longest key length as max_seqlen_k.",
              .source = "kernels/flash_fwd_kernel.h:564-568"},
     .kind = HazardKind::kWrong,
     .callees = kV2,
     .check = check_key_cap},
    {.rule = {.code = "FC-H212",
              .name = "max-seqlen-k-changes-window",
              .severity = Severity::kError,
              .message = "sequence {sequence}: {window} is {declared} and the kernel gets {used}: "
                         "max_seqlen_k is {max_seqlen_k}, the length {length}",
              .why = "A window over max_seqlen_k is dropped, and a side without a limit becomes "
                     "max_seqlen_k: too small a maximum changes who sees whom.",
              .fix = "Pass the longest key length as max_seqlen_k.",
              .source = "candle-flash-attn/src/lib.rs:684-724"},
     .kind = HazardKind::kWrong,
     .callees = kV2,
     .check = check_window_filter},
    {.rule = {.code = "FC-H213",
              .name = "max-seqlen-q-below-longest",
              .severity = Severity::kInformation,
              .message = "max_seqlen_q is {max_seqlen_q} and the longest query {longest}: harmless "
                         "within a tile of {tile} rows",
              .why = "The grid is rounded up to whole tiles, so all rows are written; one tile "
                     "further they would not be.",
              .fix = "Pass the longest query length as max_seqlen_q.",
              .source = "kernels/flash_fwd_launch_template.h:61-62, 104-105"},
     .kind = HazardKind::kInformation,
     .callees = kCandle,
     .check = check_within_tile},
    {.rule = {.code = "FC-H214",
              .name = "empty-output",
              .severity = Severity::kInformation,
              .message = "q has shape {shape}: the output has no elements",
              .why = "A launch with an empty grid fails in silence, which is right; on devices "
                     "without memory pools the empty allocation itself is an error, "
                     "DriverError(CUDA_ERROR_INVALID_VALUE, \"invalid argument\").",
              .fix = "Leave the call out where there is nothing to compute.",
              .source = "candle-flash-attn/src/lib.rs:144"},
     .kind = HazardKind::kInformation,
     .callees = kV2,
     .check = check_empty},
};

}  // namespace

std::span<const HazardRule> maximum_hazards() { return kRules; }

}  // namespace flashcheck
