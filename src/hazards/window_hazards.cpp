#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "src/hazards/families.h"
#include "src/hazards/kernel_mask.h"

namespace flashcheck {
namespace {

using std::to_string;

/// Fixed-length sequences are alike.
std::string subject(const HazardContext& context, int64_t sequence) {
  return context.c.function->varlen ? fmt::format("sequence {}", sequence) : "every sequence";
}

/// Fixed-length sequences are alike: the first speaks for all.
template <typename F>
void for_each_kind(const HazardContext& context, F&& f) {
  for_each_sequence(context, [&](int64_t b, const LaunchedSequence& s) {
    if (b == 0 || context.c.function->varlen) f(b, s);
  });
}

void check_missing_side(const HazardContext& context, const Rule& rule, const EmitHazard& emit) {
  if (drops_window(context)) return;
  const WindowMask declared = declared_mask(context.c);
  const WindowMask used = kernel_mask(context);
  for_each_kind(context, [&](int64_t b, const LaunchedSequence& s) {
    const bool is_covered = context.c.function->varlen && s.seqlen_k() > context.launch.seqlen_k;
    if (is_covered || !right_differs(declared, used, s)) return;  // max-seqlen-k-changes-window
    Finding finding =
        make_finding(rule, "/args/window_size_right",
                     {{"subject", subject(context, b)},
                      {"declared", declared.right ? to_string(*declared.right) : "None"},
                      {"used", used.right ? to_string(*used.right) : "no limit"},
                      {"seqlen_q", to_string(s.seqlen_q())},
                      {"seqlen_k", to_string(s.seqlen_k())}});
    const int64_t position = s.seqlen_k() - s.seqlen_q();
    const auto sees = [&](std::optional<int64_t> right) {
      const int64_t keys =
          right ? std::clamp<int64_t>(position + *right + 1, 0, s.seqlen_k()) : s.seqlen_k();
      return fmt::format("{} of {}", keys, s.seqlen_k());
    };
    finding.details.push_back(fmt::format("row 0 is at position {}: it sees {} keys, and should {}",
                                          position, sees(used.right), sees(declared.right)));
    finding.fix =
        declared.right
            ? fmt::format("pass the queries in parts of at most {} rows, each with its own keys",
                          s.seqlen_k() + 1)
            : fmt::format("pass {} queries at most, or None on both sides", s.seqlen_k() + 1);
    emit(std::move(finding));
  });
}

/// Only the kernels for head_dim 32, 64, 96 and 128 have a variant for even lengths and no mask.
bool reads_before_start(const HazardContext& context) {
  const LaunchParams& launch = context.launch;
  const bool has_even_kernel =
      launch.d == 32 || launch.d == 64 || launch.d == 96 || launch.d == 128;
  return !context.is_v3 && !context.c.function->varlen && has_even_kernel && launch.b > 0 &&
         launch.h > 0 && launch.seqlen_k == 0 && launch.seqlen_q > 0 &&
         launch.seqlen_q % 128 == 0 && !launch.is_causal && launch.window_size_left < 0 &&
         launch.window_size_right < 0;
}

void check_read_before_start(const HazardContext& context, const Rule& rule,
                             const EmitHazard& emit) {
  if (!reads_before_start(context)) return;
  const LaunchParams& launch = context.launch;
  const int64_t tile = launch.d <= 64 ? 128 : 64;
  Finding finding =
      make_finding(rule, "/tensors/k/shape/1",
                   {{"seqlen_q", to_string(launch.seqlen_q)}, {"tile", to_string(tile)}});
  finding.details.push_back(
      fmt::format("first read: row -{} * {} elements from k's start", tile, launch.k_row_stride));
  emit(std::move(finding));
}

void check_no_keys(const HazardContext& context, const Rule& rule, const EmitHazard& emit) {
  // Of version 3's fixed-length kernels only the causal one has an exit for it.
  if (context.is_v3 && !context.c.function->varlen && !context.launch.is_causal) return;
  if (reads_before_start(context)) return;
  for_each_kind(context, [&](int64_t b, const LaunchedSequence& s) {
    if (s.seqlen_q() <= 0 || s.seqlen_k() != 0) return;
    emit(make_finding(rule,
                      context.c.function->varlen
                          ? fmt::format("/tensors/seqlens_k/values/{}", b + 1)
                          : "/tensors/k/shape/1",
                      {{"subject", subject(context, b)}, {"rows", to_string(s.seqlen_q())}}));
  });
}

/// Rows before the first that sees a key, because the mask is aligned to the bottom right.
int64_t blind_rows(const LaunchedSequence& s, int64_t right) {
  return std::clamp<int64_t>(s.seqlen_q() - s.seqlen_k() - right, 0,
                             std::max<int64_t>(0, s.seqlen_q()));
}

void check_causal_rows(const HazardContext& context, const Rule& rule, const EmitHazard& emit) {
  if (!context.launch.is_causal) return;
  for_each_kind(context, [&](int64_t b, const LaunchedSequence& s) {
    const int64_t blind = blind_rows(s, 0);
    if (blind == 0 || s.seqlen_k() <= 0) return;
    emit(make_finding(rule, "",
                      {{"subject", subject(context, b)},
                       {"last", to_string(blind - 1)},
                       {"seqlen_q", to_string(s.seqlen_q())},
                       {"seqlen_k", to_string(s.seqlen_k())}}));
  });
}

void check_window_rows(const HazardContext& context, const Rule& rule, const EmitHazard& emit) {
  const WindowMask used = kernel_mask(context);
  if (context.launch.is_causal || !used.right) return;
  for_each_kind(context, [&](int64_t b, const LaunchedSequence& s) {
    const int64_t blind = blind_rows(s, *used.right);
    if (blind == 0 || s.seqlen_k() <= 0) return;
    emit(make_finding(rule, "/args/window_size_right",
                      {{"subject", subject(context, b)},
                       {"last", to_string(blind - 1)},
                       {"right", to_string(*used.right)},
                       {"seqlen_q", to_string(s.seqlen_q())},
                       {"seqlen_k", to_string(s.seqlen_k())}}));
  });
}

void check_inclusive_window(const HazardContext& context, const Rule& rule,
                            const EmitHazard& emit) {
  const WindowMask declared = declared_mask(context.c);
  if (!declared.left || drops_window(context) || context.launch.is_causal) return;
  bool takes_effect = false;
  for_each_sequence(context, [&](int64_t, const LaunchedSequence& s) {
    takes_effect |= left_differs(kernel_mask(context), {}, s);
  });
  if (!takes_effect) return;
  Finding finding =
      make_finding(rule, "/args/window_size_left",
                   {{"left", to_string(*declared.left)}, {"keys", to_string(*declared.left + 1)}});
  emit(std::move(finding));
}

constexpr HazardRule kRules[] = {
    {.rule = {.code = "FC-H215",
              .name = "right-window-replaced",
              .severity = Severity::kError,
              .message = "{subject}: window_size_right is {declared} and the kernel gets {used}: "
                         "with {seqlen_q} queries on {seqlen_k} keys, early rows see other keys",
              .why = "Beside a left window, a right side of None (or one over the key length) "
                     "becomes the key length, counted from position row + seqlen_k - seqlen_q; "
                     "alone, one over the key length is dropped.",
              .fix = "Pass None on both sides, or split the queries.",
              .source = "candle-flash-attn/src/lib.rs:124-161, 684-724; kernels/mask.h:200"},
     .kind = HazardKind::kWrong,
     .callees = kV2,
     .check = check_missing_side},
    {.rule = {.code = "FC-H216",
              .name = "no-keys-reads-before-start",
              .severity = Severity::kError,
              .message = "k has no rows: the kernel reads the {tile} rows before k's and v's start "
                         "and attends them (seqlen_q {seqlen_q} is a multiple of 128)",
              .why = "The exit for an empty key range is compiled out of the kernel for even "
                     "lengths, and 0 is even: the loop starts at key tile -1, without a mask.",
              .fix = "Leave the call out where there are no keys, and write zeros.",
              .source = "kernels/flash_fwd_kernel.h:127; flash_fwd_launch_template.h:63, 77"},
     .kind = HazardKind::kOutOfBoundsRead,
     .callees = kV2,
     .check = check_read_before_start},
    {.rule = {.code = "FC-H217",
              .name = "no-keys",
              .severity = Severity::kInformation,
              .message = "{subject} has no keys: its {rows} rows are 0 and lse is +inf",
              .why = "Rows without keys are written as zeros, not as NaN.",
              .fix = "Nothing to do if that is meant.",
              .source = "kernels/flash_fwd_kernel.h:127-161, 579-621"},
     .kind = HazardKind::kInformation,
     .callees = kCandle,
     .check = check_no_keys},
    {.rule = {.code = "FC-H218",
              .name = "causal-rows-without-keys",
              .severity = Severity::kInformation,
              .message =
                  "{subject}: rows 0..{last} see no key and are 0: causal, {seqlen_q} queries "
                  "on {seqlen_k} keys",
              .why = "The mask is aligned to the bottom right: the last query sees the last key. "
                     "With more queries than keys the first ones stand before the first key.",
              .fix = "If query 0 stands at key 0 instead, pass as many keys as queries.",
              .source = "kernels/mask.h:199-200"},
     .kind = HazardKind::kInformation,
     .callees = kCandle,
     .check = check_causal_rows},
    {.rule = {.code = "FC-H219",
              .name = "window-rows-without-keys",
              .severity = Severity::kInformation,
              .message = "{subject}: rows 0..{last} see no key and are 0: right window {right}, "
                         "{seqlen_q} queries on {seqlen_k} keys",
              .why = "A row sees keys up to row + seqlen_k - seqlen_q + right; where that is "
                     "negative there are none.",
              .fix = "If query 0 stands at key 0 instead, pass as many keys as queries.",
              .source = "kernels/mask.h:199-200"},
     .kind = HazardKind::kInformation,
     .callees = kV2,
     .check = check_window_rows},
    {.rule = {.code = "FC-H220",
              .name = "window-counts-both-ends",
              .severity = Severity::kInformation,
              .message = "window_size_left {left} keeps {keys} keys: itself and {left} before",
              .why = "Both ends of a window are included. A model's sliding window of W tokens is "
                     "window_size_left = W - 1.",
              .fix = "Pass one less if the model counts the token itself.",
              .source = "kernels/mask.h:199-200, 222"},
     .kind = HazardKind::kInformation,
     .callees = kV2,
     .check = check_inclusive_window},
};

}  // namespace

std::span<const HazardRule> window_hazards() { return kRules; }

}  // namespace flashcheck
