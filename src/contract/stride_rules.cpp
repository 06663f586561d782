#include <fmt/format.h>

#include "src/contract/rules.h"
#include "src/contract/text.h"

namespace flashcheck {
namespace {

/// The head_dim that q, k and v share, as told by one whose last dim is contiguous.
std::optional<int64_t> head_dim_elsewhere(const Call& call, TensorName subject) {
  for (const TensorName name : {TensorName::kQ, TensorName::kK, TensorName::kV}) {
    const TensorSpec& tensor = call.c.at(name);
    if (name != subject && tensor.rank() > 0 && tensor.strides.back() == 1) {
      return tensor.shape.back();
    }
  }
  return std::nullopt;
}

/// The axis other than the last along which neighbours are adjacent in memory.
std::optional<size_t> contiguous_axis(const TensorSpec& tensor) {
  for (size_t axis = 0; axis + 1 < tensor.shape.size(); ++axis) {
    if (tensor.strides[axis] == 1 && tensor.shape[axis] > 1) return axis;
  }
  return std::nullopt;
}

/// What makes a last dim contiguous whatever the tensor means.
std::string copy_fix(std::string_view name, const TensorSpec& tensor) {
  if (tensor.is_contiguous()) {
    return fmt::format(
        "The last dim has size {1}, and candle looks at its stride all the same. "
        "`.contiguous()` gives such a tensor back unchanged: copy it with "
        "`{0}.force_contiguous()?`.",
        name, tensor.shape.back());
  }
  if (tensor.strides.back() == 0) {
    return fmt::format("The last dim of {0} is a broadcast: `{0}.contiguous()?` writes it out.",
                       name);
  }
  return fmt::format(
      "Neighbours in the last dim of {0} lie {1} elements apart: `{0}.contiguous()?` copies them "
      "together.",
      name, tensor.strides.back());
}

std::string last_dim_fix(const Call& call, TensorName subject) {
  const TensorSpec& tensor = call.c.at(subject);
  const std::string_view name = name_of(subject);
  const std::optional<size_t> axis = contiguous_axis(tensor);
  if (!axis) return copy_fix(name, tensor);
  const size_t last = tensor.shape.size() - 1;
  const std::optional<int64_t> head_dim = head_dim_elsewhere(call, subject);
  const std::string swap = fmt::format("`{}.transpose({}, {})?`", name, *axis, last);
  const std::string swapped = rust_list(transposed(tensor.shape, *axis, last));
  if (head_dim == tensor.shape[*axis] && head_dim != tensor.shape[last]) {
    return fmt::format(
        "Axis {} of {} is the contiguous one and has size {}, the head_dim: {} is transposed. {} "
        "gives {} with a contiguous last dim, without a copy.",
        *axis, name, *head_dim, name, swap, swapped);
  }
  std::string fix = fmt::format(
      "Axis {0} of {1} is the contiguous one, stride 1, so {1} is a transposed or permuted view. "
      "`{1}.contiguous()?` copies it and keeps {2}; {3} takes the transpose back without a copy "
      "and gives {4}.",
      *axis, name, rust_list(tensor.shape), swap, swapped);
  if (head_dim == tensor.shape[last] && head_dim != tensor.shape[*axis]) {
    fix += fmt::format(" The head_dim is {}, so the shape looks right: copy.", *head_dim);
  }
  return fix;
}

Facts last_dim_not_contiguous(const Call& call, TensorName subject) {
  return {.where = pointer_to(subject, "strides"),
          .args = {{"tensor", std::string(name_of(subject))},
                   {"strides", rust_list(call.c.at(subject).strides)}},
          .fix = last_dim_fix(call, subject)};
}

Facts seqlens_not_contiguous(const Call& call, TensorName subject) {
  const TensorSpec& seqlens = call.c.at(subject);
  const std::string_view name = name_of(subject);
  Facts facts{.where = pointer_to(subject, "strides"),
              .args = {{"tensor", std::string(name)}},
              .fix = fmt::format("`let {0} = {0}.contiguous()?;`: its strides are {1}.", name,
                                 rust_list(seqlens.strides))};
  if (seqlens.strides.back() == 0) {
    facts.fix += " Stride 0 repeats one number; cumulative lengths have to grow.";
  }
  return facts;
}

Facts table_last_dim_not_contiguous(const Call& call, TensorName subject) {
  const TensorSpec& table = call.c.at(subject);
  const std::string_view name = name_of(subject);
  Facts facts{.where = pointer_to(subject, "strides"), .args = {{"tensor", std::string(name)}}};
  if (table.is_contiguous()) {
    facts.fix = copy_fix(name, table);
  } else {
    facts.fix = fmt::format("`let {0} = {0}.contiguous()?;`: its strides are {1}, {2}.", name,
                            rust_list(table.strides),
                            contiguous_axis(table) ? "a transposed view" : "not row-major");
  }
  return facts;
}

bool last_stride_is_not_1(const Call& call, TensorName subject) {
  const TensorSpec& tensor = call.c.at(subject);
  return tensor.rank() > 0 && tensor.strides.back() != 1;
}

}  // namespace

constinit const ContractRule kLastDimNotContiguous{
    .rule = {.code = "FC-E301",
             .name = "last-dim-not-contiguous",
             .message = "the last dim of {tensor} must be contiguous {strides}",
             .why = "The kernel loads 16 bytes at a time along the last dim, so its stride must be "
                    "1. The other strides are free: a slice of a fused QKV buffer, or a transpose "
                    "of rows and heads, is fine. The number is tested even where the dim has size "
                    "1.",
             .fix = "`.contiguous()?` on the tensor, or undo the transpose that moved the head dim "
                    "away from the end.",
             .source = "candle-flash-attn/src/lib.rs:60-68, 548-556"},
    .fails = last_stride_is_not_1,
    .facts = last_dim_not_contiguous};

constinit const ContractRule kSeqlensNotContiguous{
    .rule = {.code = "FC-E302",
             .name = "seqlens-not-contiguous",
             .message = "{tensor} has to be contiguous",
             .why = "The kernel reads the cumulative lengths one after the other from a pointer; "
                    "it is told no stride. A column of a two-column table of starts and ends gets "
                    "here.",
             .fix = "`.contiguous()?`.",
             .source = "candle-flash-attn/src/lib.rs:486-489, 496-499"},
    .fails = [](const Call& call,
                TensorName subject) { return !call.c.at(subject).is_contiguous(); },
    .facts = seqlens_not_contiguous};

constinit const ContractRule kTableLastDimNotContiguous{
    .rule = {.code = "FC-E303",
             .name = "table-last-dim-not-contiguous",
             .message = "{tensor} last dimension must be contiguous",
             .why = "A row of the block table, and a pair of mm_prefix_ranges, is read from "
                    "neighbouring elements.",
             .fix = "`.contiguous()?`, or `.force_contiguous()?` where the last dim has size 1.",
             .source = "candle-flash-attn/src/lib.rs:508-510, 637-639"},
    .fails =
        [](const Call& call, TensorName subject) {
          return call.has_expected_rank(subject) && last_stride_is_not_1(call, subject);
        },
    .facts = table_last_dim_not_contiguous};

}  // namespace flashcheck
