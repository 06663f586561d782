#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "src/hazards/families.h"
#include "src/hazards/kernel_mask.h"

namespace flashcheck {
namespace {

using std::to_string;

bool is_wide(const HazardContext& context) { return context.launch.d > 256; }

/// Whether the window that was asked for hides a key of some sequence; true where that is unknown.
bool window_matters(const HazardContext& context) {
  if (!context.sequences) return true;
  const WindowMask declared = declared_mask(context.c);
  return std::any_of(context.sequences->begin(), context.sequences->end(),
                     [&](const LaunchedSequence& s) { return hides_keys(declared, s); });
}

/// Causal until ranges were given (candle-flash-attn/src/lib.rs:697-699).
bool ranges_made_it_local(const HazardContext& context) {
  const WindowMask declared = declared_mask(context.c);
  return context.c.find(TensorName::kMmPrefixRanges) && declared.right == 0 &&
         (!declared.left || *declared.left > context.launch.seqlen_k);
}

void check_window(const HazardContext& context, const Rule& rule, const EmitHazard& emit) {
  if (!is_wide(context) || !drops_window(context) || ranges_made_it_local(context)) return;
  if (!window_matters(context)) return;
  const WindowMask declared = declared_mask(context.c);
  const auto text = [](std::optional<int64_t> side) {
    return side ? to_string(*side) : std::string("None");
  };
  Finding finding =
      make_finding(rule, declared.left ? "/args/window_size_left" : "/args/window_size_right",
                   {{"head_dim", to_string(context.launch.d)},
                    {"left", text(declared.left)},
                    {"right", text(declared.right)}});
  if (declared.right == 0) {
    finding.details.push_back(
        fmt::format("the causal limit goes with it; with a left window over {} (the key length it "
                    "is compared with) the same call is causal",
                    context.launch.seqlen_k));
    finding.fix =
        "no kernel of candle's has a window at this head_dim: for the window use an unfused path, "
        "or a head_dim up to 256; window_size_left None gives causal attention, another result: "
        "the model then attends to keys outside its window";
  }
  emit(std::move(finding));
}

void check_ranges(const HazardContext& context, const Rule& rule, const EmitHazard& emit) {
  if (!is_wide(context) || !context.c.find(TensorName::kMmPrefixRanges)) return;
  if (!drops_window(context) || !window_matters(context)) return;
  emit(
      make_finding(rule, "/tensors/mm_prefix_ranges", {{"head_dim", to_string(context.launch.d)}}));
}

void check_softcap(const HazardContext& context, const Rule& rule, const EmitHazard& emit) {
  if (!is_wide(context) || !(context.launch.softcap > 0)) return;
  emit(make_finding(rule, "/args/softcap",
                    {{"head_dim", to_string(context.launch.d)},
                     {"softcap", fmt::format("{}", context.launch.softcap)},
                     {"scale", fmt::format("{}", context.launch.softmax_scale)}}));
}

void check_slopes(const HazardContext& context, const Rule& rule, const EmitHazard& emit) {
  if (!is_wide(context) || !context.c.find(TensorName::kAlibiSlopes)) return;
  emit(make_finding(rule, "/tensors/alibi_slopes", {{"head_dim", to_string(context.launch.d)}}));
}

constexpr HazardRule kRules[] = {
    {.rule = {.code = "FC-H401",
              .name = "window-dropped-over-256",
              .severity = Severity::kError,
              .message = "head_dim {head_dim}: the window ({left}, {right}) is dropped and "
                         "attention is full, in both directions",
              .why = "The kernels for head_dim over 256 are built without windows, and a windowed "
                     "call is not the causal kernel's either.",
              .fix =
                  "For the window use an unfused path, or a head_dim up to 256. Causal alone (left "
                  "None, right 0) runs at this head_dim and changes the result: the model then "
                  "attends to keys outside its window.",
              .source = "kernels/flash_fwd_hdim512_fp16_sm80.cu:6-8; static_switch.h:39-77"},
     .kind = HazardKind::kWrong,
     .callees = kV2,
     .check = check_window},
    {.rule = {.code = "FC-H402",
              .name = "prefix-ranges-unmask-over-256",
              .severity = Severity::kError,
              .message = "head_dim {head_dim}: mm_prefix_ranges removes the causal mask, and "
                         "attention is full",
              .why = "Ranges force the window kernel, even an empty list of them, and for head_dim "
                     "over 256 that kernel is built without windows.",
              .fix = "Pass mm_prefix_ranges None at this head_dim, which keeps the call causal.",
              .source = "candle-flash-attn/src/lib.rs:697-699; static_switch.h:39-77"},
     .kind = HazardKind::kWrong,
     .callees = kV2,
     .check = check_ranges},
    {.rule = {.code = "FC-H403",
              .name = "softcap-becomes-scale-over-256",
              .severity = Severity::kError,
              .message = "head_dim {head_dim}: logits are {softcap} * q.k: the softcap is used as "
                         "the scale, and softmax_scale {scale} is ignored",
              .why = "The kernels for head_dim over 256 are built without tanh, but the scale has "
                     "been replaced by the softcap before they start.",
              .fix = "Pass softcap None at this head_dim.",
              .source = "kernels/flash_api.cu:129-132; static_switch.h:39-77"},
     .kind = HazardKind::kWrong,
     .callees = kV2,
     .check = check_softcap},
    {.rule = {.code = "FC-H404",
              .name = "alibi-ignored-over-256",
              .severity = Severity::kError,
              .message = "head_dim {head_dim}: alibi_slopes has no effect",
              .why = "The kernels for head_dim over 256 are built without ALiBi.",
              .fix = "Add the bias in another attention; this kernel cannot.",
              .source = "kernels/flash_fwd_hdim512_fp16_sm80.cu:6-8; static_switch.h:39-77"},
     .kind = HazardKind::kWrong,
     .callees = kV2,
     .check = check_slopes},
};

}  // namespace

std::span<const HazardRule> head_dim_hazards() { return kRules; }

}  // namespace flashcheck
