#include <fmt/format.h>

#include <string>
#include <variant>

#include "src/hazards/families.h"

namespace flashcheck {
namespace {

/// What stays unchecked without the values of a tensor.
std::string unchecked(const HazardContext& context, TensorName name) {
  const Case& c = context.c;
  switch (name) {
    case TensorName::kSeqlensQ:
      return fmt::format(
          "whether every sequence stays within the {} rows of q and out is not known",
          c.q().shape[0]);
    case TensorName::kSeqlensK:
      if (!c.function->paged) {
        return fmt::format(
            "whether every sequence stays within the {} rows of k and v is not known",
            c.k().shape[0]);
      }
      return fmt::format(
          "a row of block_table holds {} keys: safe only if no sequence is longer (max_seqlen_k is "
          "{})",
          c.at(TensorName::kBlockTable).shape[1] * c.k().shape[1], c.args.max_seqlen_k);
    case TensorName::kBlockTable:
      return fmt::format("whether its entries are pages of the {} that k and v have is not known",
                         c.k().shape[0]);
    default:
      return "whether its ranges fit the lengths is not known";
  }
}

void check_known(const HazardContext& context, const Rule& rule, const EmitHazard& emit) {
  for (const TensorName name : {TensorName::kSeqlensQ, TensorName::kSeqlensK,
                                TensorName::kBlockTable, TensorName::kMmPrefixRanges}) {
    const TensorSpec* tensor = context.c.find(name);
    if (!tensor || !std::holds_alternative<std::monostate>(*tensor->values)) continue;
    emit(make_finding(
        rule, fmt::format("/tensors/{}", name_of(name)),
        {{"tensor", std::string(name_of(name))}, {"unchecked", unchecked(context, name)}}));
  }
}

constexpr HazardRule kRules[] = {
    {.rule = {.code = "FC-H001",
              .name = "values-unknown",
              .severity = Severity::kInformation,
              .message = "the values of {tensor} are not given: {unchecked}",
              .why = "The wrapper looks at shapes and strides alone; what the kernel reads and "
                     "writes is decided by the values of the small tensors.",
              .fix = "Write them into the case as `values`.",
              .source = "docs/hazards.md"},
     .kind = HazardKind::kInformation,
     .callees = kAll,
     .check = check_known},
};

}  // namespace

std::span<const HazardRule> unknown_value_hazards() { return kRules; }

}  // namespace flashcheck
