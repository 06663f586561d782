#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string>

#include "src/hazards/addresses.h"
#include "src/hazards/families.h"

namespace flashcheck {
namespace {

using std::to_string;

void check_slope_stride(const HazardContext& context, const Rule& rule, const EmitHazard& emit) {
  const TensorSpec* slopes = context.c.find(TensorName::kAlibiSlopes);
  if (!slopes || context.launch.h < 2 || slopes->strides[0] == 1) return;
  emit(make_finding(rule, "/tensors/alibi_slopes/strides/0",
                    {{"stride", to_string(slopes->strides[0])},
                     {"element", to_string(slopes->offset + 1)},
                     {"declared", to_string(slopes->offset + slopes->strides[0])}}));
}

void check_slope_extent(const HazardContext& context, const Rule& rule, const EmitHazard& emit) {
  const TensorSpec* slopes = context.c.find(TensorName::kAlibiSlopes);
  if (!slopes) return;
  const int64_t heads = context.launch.h;
  const int64_t elements = context.c.storage_elements(*slopes);
  if (heads == 0 || slopes->offset + heads <= elements) return;
  Finding finding = make_finding(
      rule, "/tensors/alibi_slopes",
      {{"last", to_string(slopes->offset + heads - 1)}, {"elements", to_string(elements)}});
  const int64_t first_outside = std::max<int64_t>(0, elements - slopes->offset);
  finding.details.push_back(
      "alibi_slopes is read at " +
      against_storage(address_of(slopes->offset, {{"head", first_outside, 1}}), elements));
  finding.fix = fmt::format("pass {} slopes one after the other: alibi_slopes.contiguous()", heads);
  emit(std::move(finding));
}

void check_devices(const HazardContext& context, const Rule& rule, const EmitHazard& emit) {
  for (const TensorName name :
       {TensorName::kSeqlensQ, TensorName::kSeqlensK, TensorName::kBlockTable,
        TensorName::kMmPrefixRanges, TensorName::kAlibiSlopes}) {
    const TensorSpec* tensor = context.c.find(name);
    if (!tensor || tensor->device == context.c.q().device) continue;
    if (context.is_v3 && name == TensorName::kAlibiSlopes) continue;  // its kernels read no slopes
    const std::string where = name_of(context.c.q().device);
    Finding finding = make_finding(rule, fmt::format("/tensors/{}/device", name_of(name)),
                                   {{"tensor", std::string(name_of(name))},
                                    {"device", name_of(tensor->device)},
                                    {"q_device", where}});
    finding.fix = fmt::format("copy it: {}.to_device(q.device())", name_of(name));
    emit(std::move(finding));
  }
}

// The most heads of any published model are 128; more than that is a length in the wrong place.
constexpr int64_t kMostHeads = 128;

void check_axis_order(const HazardContext& context, const Rule& rule, const EmitHazard& emit) {
  const Case& c = context.c;
  const auto report = [&](TensorName name, size_t row_axis) {
    const std::vector<int64_t>& shape = c.at(name).shape;
    Finding finding = make_finding(rule, fmt::format("/tensors/{}/shape", name_of(name)),
                                   {{"tensor", std::string(name_of(name))},
                                    {"rows", to_string(shape[row_axis])},
                                    {"heads", to_string(shape[row_axis + 1])}});
    finding.fix = fmt::format(
        "if {0} is laid out heads first, pass {0}.transpose({1}, {2}): strides are honoured, no "
        "copy is needed",
        name_of(name), row_axis, row_axis + 1);
    emit(std::move(finding));
  };
  for (const TensorName name : {TensorName::kQ, TensorName::kK}) {
    const std::vector<int64_t>& shape = c.at(name).shape;
    const size_t row_axis = shape.size() - 3;
    const int64_t heads = shape[row_axis + 1];
    // A short query has few rows beside many heads; keys tell more of them.
    const int64_t rows =
        c.function->varlen ? shape[row_axis] : std::max(c.q().shape[1], c.k().shape[1]);
    if (heads > kMostHeads && heads > rows) report(name, row_axis);
  }
}

void check_broadcast(const HazardContext& context, const Rule& rule, const EmitHazard& emit) {
  for (const TensorName name : {TensorName::kQ, TensorName::kK, TensorName::kV}) {
    const TensorSpec& tensor = context.c.at(name);
    for (size_t dim = 0; dim + 1 < tensor.shape.size(); ++dim) {
      if (tensor.shape[dim] < 2 || tensor.strides[dim] != 0) continue;
      emit(make_finding(
          rule, fmt::format("/tensors/{}/strides/{}", name_of(name), dim),
          {{"tensor", std::string(name_of(name))},
           {"dim", to_string(dim)},
           {"size", to_string(tensor.shape[dim])},
           {"effect", context.is_v3 ? "version 3 builds a TMA descriptor from it, and whether that "
                                      "takes a stride of 0 is not known"
                                    : "a broadcast, which the kernel reads correctly"}}));
    }
  }
}

constexpr HazardRule kRules[] = {
    {.rule = {.code = "FC-H106",
              .name = "alibi-slopes-stride-ignored",
              .severity = Severity::kError,
              .message = "alibi_slopes has a stride of {stride}: the slope of head 1 is read at "
                         "element {element}, not {declared}",
              .why = "Only the start of the slopes reaches the kernel, which reads slope h at "
                     "start + h: of a strided or broadcast view, other numbers than it shows.",
              .fix = "Pass alibi_slopes.contiguous().",
              .source = "candle-flash-attn/src/lib.rs:115-119, 675-679; "
                        "kernels/flash_fwd_kernel.h:320, 883"},
     .kind = HazardKind::kWrong,
     .callees = kV2,
     .check = check_slope_stride},
    {.rule = {.code = "FC-H107",
              .name = "alibi-slopes-read-past-storage",
              .severity = Severity::kError,
              .message = "alibi_slopes: the slope of the last head is read at element {last} of a "
                         "storage of {elements}",
              .why =
                  "The kernel reads slope h at base + h and ignores the stride of the view, so a "
                  "broadcast or strided view of few elements is read past its end.",
              .fix = "Pass contiguous slopes, one for each query head.",
              .source = "candle-flash-attn/src/lib.rs:115-119, kernels/flash_fwd_kernel.h:320"},
     .kind = HazardKind::kOutOfBoundsRead,
     .callees = kV2 | kDirect,
     .check = check_slope_extent},
    {.rule = {.code = "FC-H108",
              .name = "small-tensor-on-another-gpu",
              .severity = Severity::kError,
              .message = "{tensor} is on {device}, q is on {q_device}",
              .why = "The wrapper compares the devices of q, k and v; of the small tensors it asks "
                     "only whether they are on some GPU. The kernel follows a pointer into another "
                     "GPU's memory: a fault, or other numbers.",
              .fix = "Copy it to q's device.",
              .source = "candle-flash-attn/src/lib.rs:110, 482, 492, 503, 626, 670; "
                        "candle-core/src/storage.rs:256-257"},
     .kind = HazardKind::kFault,
     .callees = kCandle,
     .check = check_devices},
    {.rule = {.code = "FC-H109",
              .name = "heads-and-rows-look-swapped",
              .severity = Severity::kWarning,
              .message =
                  "{tensor} has {rows} rows of {heads} heads, more than any model: are the two "
                  "axes swapped?",
              .why = "Axes are taken by position, rows before heads; heads-first data of the "
                     "right sizes is accepted and attended along the wrong axis.",
              .fix = "Transpose the two axes; strides are honoured.",
              .source = "candle-flash-attn/src/lib.rs:70-71, 558-560"},
     .kind = HazardKind::kWrong,
     .callees = kCandle,
     .check = check_axis_order},
    {.rule = {.code = "FC-H110",
              .name = "stride-zero",
              .severity = Severity::kInformation,
              .message = "{tensor}: dim {dim} of {size} has stride 0: {effect}",
              .why = "All entries of the dim are one and the same in memory.",
              .fix = "Nothing to do if the tensor was expanded on purpose.",
              .source = "kernels/flash.h:26-34"},
     .kind = HazardKind::kInformation,
     .callees = kCandle,
     .check = check_broadcast},
};

}  // namespace

std::span<const HazardRule> layout_hazards() { return kRules; }

}  // namespace flashcheck
