#include <fmt/format.h>

#include <cmath>
#include <limits>
#include <string>

#include "src/hazards/families.h"
#include "src/hazards/kernel_mask.h"
#include "src/hazards/tile_sizes.h"

namespace flashcheck {
namespace {

std::string text(float value) { return fmt::format("{}", value); }

/// The kernels for head_dim over 256 have no tanh and no ALiBi; their own rules say what follows.
bool has_softcap_kernel(const HazardContext& context) {
  return !context.is_v3 && context.launch.d <= 256;
}

void check_softcap_off(const HazardContext& context, const Rule& rule, const EmitHazard& emit) {
  const std::optional<float> softcap = context.c.args.softcap;
  if (!softcap || *softcap > 0) return;
  // A function that demands a number has 0 as its only way to say none.
  if (*softcap == 0 && context.c.function->softcap == Presence::kRequired) return;
  emit(make_finding(rule, "/args/softcap", {{"softcap", text(*softcap)}}));
}

void check_softcap_scale(const HazardContext& context, const Rule& rule, const EmitHazard& emit) {
  if (!has_softcap_kernel(context) || !(context.launch.softcap > 0)) return;
  if (context.launch.softmax_scale > 0 || std::isnan(context.launch.softmax_scale)) return;
  emit(make_finding(
      rule, "/args/softmax_scale",
      {{"scale", text(context.launch.softmax_scale)}, {"softcap", text(context.launch.softcap)}}));
}

void check_softcap_range(const HazardContext& context, const Rule& rule, const EmitHazard& emit) {
  const float softcap = context.launch.softcap, scale = context.launch.softmax_scale;
  if (!has_softcap_kernel(context) || !(softcap > 0)) return;
  // The device takes subnormal numbers for 0 (--use_fast_math).
  const bool underflows = scale > 0 && scale / softcap < std::numeric_limits<float>::min();
  if (!std::isinf(softcap) && !underflows) return;
  emit(make_finding(rule, "/args/softcap", {{"softcap", text(softcap)}, {"scale", text(scale)}}));
}

/// Whether softmax_scale itself multiplies the scores.
bool scales_by_itself(const HazardContext& context) { return !(context.launch.softcap > 0); }

void check_scale_sign(const HazardContext& context, const Rule& rule, const EmitHazard& emit) {
  const float scale = context.launch.softmax_scale;
  if (!scales_by_itself(context) || !(scale < 0) || std::isinf(scale)) return;
  emit(make_finding(rule, "/args/softmax_scale", {{"scale", text(scale)}}));
}

void check_scale_zero(const HazardContext& context, const Rule& rule, const EmitHazard& emit) {
  if (!scales_by_itself(context) || context.launch.softmax_scale != 0) return;
  const int64_t tile = tile_sizes(*context.c.function, context.launch).key_rows;
  std::string reason;
  if (kernel_mask(context).is_limited()) {
    reason = "there is a mask";
  } else {
    for_each_sequence(context, [&](int64_t b, const LaunchedSequence& s) {
      if (!reason.empty() || s.seqlen_q() <= 0 || s.seqlen_k() <= 0) return;
      if (s.seqlen_k() % tile == 0) return;
      reason = fmt::format("sequence {} has {} keys, no multiple of the tile's {}", b, s.seqlen_k(),
                           tile);
    });
  }
  if (reason.empty()) return;
  emit(make_finding(rule, "/args/softmax_scale", {{"reason", reason}}));
}

void check_scale_finite(const HazardContext& context, const Rule& rule, const EmitHazard& emit) {
  if (std::isfinite(context.launch.softmax_scale)) return;
  emit(make_finding(rule, "/args/softmax_scale", {{"scale", text(context.launch.softmax_scale)}}));
}

void check_alibi_scale(const HazardContext& context, const Rule& rule, const EmitHazard& emit) {
  if (!context.c.find(TensorName::kAlibiSlopes) || context.launch.d > 256) return;
  if (!scales_by_itself(context) || context.launch.softmax_scale != 0) return;
  emit(make_finding(rule, "/args/softmax_scale", {}));
}

void check_alibi_form(const HazardContext& context, const Rule& rule, const EmitHazard& emit) {
  if (!context.c.find(TensorName::kAlibiSlopes) || context.launch.d > 256) return;
  emit(make_finding(rule, "/tensors/alibi_slopes",
                    {{"form", context.launch.is_causal
                                  ? "slope * key, so lse is not that of -slope * distance; the "
                                    "output is the same"
                                  : "-slope * |row + seqlen_k - seqlen_q - key|, on both sides"}}));
}

constexpr HazardRule kRules[] = {
    {.rule = {.code = "FC-H501",
              .name = "softcap-not-positive",
              .severity = Severity::kWarning,
              .message = "softcap {softcap} is not above 0, so there is no softcap",
              .why = "The kernel caps only where softcap > 0; anything else, NaN too, means none.",
              .fix = "Pass None if no cap is meant, or the model's positive number.",
              .source = "kernels/flash_api.cu:129"},
     .kind = HazardKind::kWrong,
     .callees = kV2 | kDirect,
     .check = check_softcap_off},
    {.rule = {.code = "FC-H502",
              .name = "softcap-with-scale-not-positive",
              .severity = Severity::kError,
              .message =
                  "softcap {softcap} with softmax_scale {scale}: logits are {softcap} * q.k, "
                  "without a cap and without the scale",
              .why = "The tanh needs softmax_scale / softcap > 0, but the scale has been replaced "
                     "by the softcap before that is asked.",
              .fix = "Pass a positive softmax_scale; negate q for a negative one.",
              .source = "kernels/flash_fwd_launch_template.h:71, 114; flash_api.cu:130-132"},
     .kind = HazardKind::kWrong,
     .callees = kV2,
     .check = check_softcap_scale},
    {.rule = {.code = "FC-H503",
              .name = "softcap-too-large",
              .severity = Severity::kError,
              .message = "softcap {softcap} with softmax_scale {scale}: their quotient is 0 on the "
                         "device, so logits are 0 or NaN",
              .why = "Logits are softcap * tanh(softmax_scale / softcap * q.k); a quotient below "
                     "1.2e-38 is flushed to 0, and infinity times 0 is NaN.",
              .fix = "Pass None for no cap.",
              .source = "kernels/flash_api.cu:129-132"},
     .kind = HazardKind::kNan,
     .callees = kV2,
     .check = check_softcap_range},
    {.rule = {.code = "FC-H504",
              .name = "scale-negative",
              .severity = Severity::kError,
              .message =
                  "softmax_scale is {scale}: every row with a masked key in its tiles is NaN",
              .why = "Masked scores are -inf before they are scaled, and a negative scale makes "
                     "them +inf; the running maximum is of unscaled scores too.",
              .fix = "Pass the absolute value and negate q.",
              .source = "kernels/softmax.h:75, 87, 156"},
     .kind = HazardKind::kNan,
     .callees = kCandle,
     .check = check_scale_sign},
    {.rule = {.code = "FC-H505",
              .name = "scale-zero",
              .severity = Severity::kError,
              .message = "softmax_scale is 0 and {reason}: rows with a masked key in their tiles "
                         "are NaN",
              .why = "Masked scores are -inf before they are scaled, and -inf * 0 is NaN. Without "
                     "masked keys the output is the plain mean of v.",
              .fix = "Pass 1 / sqrt(head_dim), or a tiny positive scale for a mean.",
              .source = "kernels/softmax.h:87"},
     .kind = HazardKind::kNan,
     .callees = kCandle,
     .check = check_scale_zero},
    {.rule = {.code = "FC-H506",
              .name = "scale-not-finite",
              .severity = Severity::kError,
              .message = "softmax_scale is {scale}: rows are NaN",
              .why = "Scores are multiplied by it, and inf - inf is NaN.",
              .fix = "Pass 1 / sqrt(head_dim); look for a head_dim of 0 in what computed it.",
              .source = "kernels/softmax.h:75-88"},
     .kind = HazardKind::kNan,
     .callees = kAll,
     .check = check_scale_finite},
    {.rule = {.code = "FC-H507",
              .name = "alibi-with-scale-zero",
              .severity = Severity::kError,
              .message = "softmax_scale is 0 and there are slopes: the bias is infinite or NaN",
              .why = "The kernel divides each slope by softmax_scale.",
              .fix = "Pass a positive softmax_scale.",
              .source = "kernels/flash_fwd_kernel.h:320, 883"},
     .kind = HazardKind::kNan,
     .callees = kV2,
     .check = check_alibi_scale},
    {.rule = {.code = "FC-H508",
              .name = "alibi-form",
              .severity = Severity::kInformation,
              .message = "the ALiBi bias is {form}",
              .why = "The causal kernel leaves out what is constant in a row; the others take the "
                     "distance both ways.",
              .fix = "Nothing to do unless lse is compared, or keys ahead should have no bias.",
              .source = "kernels/mask.h:183-185, 207-214"},
     .kind = HazardKind::kInformation,
     .callees = kV2,
     .check = check_alibi_form},
};

}  // namespace

std::span<const HazardRule> scale_hazards() { return kRules; }

}  // namespace flashcheck
