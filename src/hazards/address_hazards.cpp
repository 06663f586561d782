#include <fmt/format.h>

#include <string>

#include "src/hazards/families.h"

namespace flashcheck {
namespace {

/// "0 + (4-1)*8192 + (64-1)*1": where the last element of a view is.
std::string last_element_sum(const TensorSpec& tensor) {
  std::string sum = std::to_string(tensor.offset);
  for (size_t i = 0; i < tensor.shape.size(); ++i) {
    if (tensor.shape[i] > 1) sum += fmt::format(" + ({}-1)*{}", tensor.shape[i], tensor.strides[i]);
  }
  return sum;
}

void check_extent(const HazardContext& context, const Rule& rule, const EmitHazard& emit) {
  const Case& c = context.c;
  for (int i = 0; i < kNumTensors; ++i) {
    const TensorName name = static_cast<TensorName>(i);
    const TensorSpec* tensor = c.find(name);
    if (!tensor) continue;
    const int64_t span = *tensor->span();
    const int64_t elements = c.storage_elements(*tensor);
    if (span == 0 || tensor->offset + span <= elements) continue;
    const int64_t last = tensor->offset + span - 1;
    Finding finding = make_finding(rule, fmt::format("/tensors/{}", name_of(name)),
                                   {{"tensor", std::string(name_of(name))},
                                    {"last", std::to_string(last)},
                                    {"elements", std::to_string(elements)}});
    finding.details.push_back(fmt::format("last element {} = {}", last_element_sum(*tensor), last));
    finding.fix = fmt::format(
        "give {}'s storage at least {} elements, or correct the shape, the strides or the offset "
        "(row-major strides of its shape end at element {})",
        name_of(name), last + 1, tensor->offset + *tensor->num_elements() - 1);
    emit(std::move(finding));
  }
}

void check_alibi_slopes(const HazardContext& context, const Rule& rule, const EmitHazard& emit) {
  const TensorSpec* slopes = context.c.find(TensorName::kAlibiSlopes);
  if (!slopes || context.is_v3) return;
  const int64_t heads = context.launch.h;
  const int64_t elements = context.c.storage_elements(*slopes);
  if (slopes->offset + heads <= elements) return;
  Finding finding = make_finding(rule, "/tensors/alibi_slopes",
                                 {{"last", std::to_string(slopes->offset + heads - 1)},
                                  {"elements", std::to_string(elements)}});
  finding.fix = fmt::format("pass {} slopes one after the other: alibi_slopes.contiguous()", heads);
  emit(std::move(finding));
}

constexpr HazardRule kRules[] = {
    {.rule = {.code = "FC-H103",
              .name = "view-exceeds-storage",
              .severity = Severity::kError,
              .message = "{tensor}: its last element is number {last} of a storage of {elements}",
              .why = "The wrapper compares only the start offset with the storage's length; shape "
                     "and strides are taken as they are, so the kernel reads past the allocation.",
              .fix = "Correct the shape, the strides or the offset, or enlarge the storage.",
              .source = "candle-flash-attn/src/lib.rs:41-43, 523-525"},
     .kind = HazardKind::kOutOfBoundsRead,
     .check = check_extent},
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
     .check = check_alibi_slopes},
};

}  // namespace

std::span<const HazardRule> address_hazards() { return kRules; }

}  // namespace flashcheck
