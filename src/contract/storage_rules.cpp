#include <fmt/format.h>

#include "src/contract/rules.h"
#include "src/contract/text.h"
#include "src/spec/checked.h"

namespace flashcheck {
namespace {

Facts offset_past_storage(const Call& call, TensorName subject) {
  const TensorSpec& tensor = call.c.at(subject);
  const std::string_view name = name_of(subject);
  const int64_t elements = call.c.storage_elements(tensor);
  const int64_t span = tensor.span().value_or(0);
  const int64_t size = size_in_bytes(tensor.dtype);
  Facts facts{.where = pointer_to(subject, "offset")};
  facts.fix =
      fmt::format("{} starts at element {} of a storage of {}. ", name, tensor.offset, elements);
  if (size > 1 && tensor.offset % size == 0 && tensor.offset / size <= elements - span) {
    facts.fix += fmt::format("Offsets are in elements: if {} is in bytes, the offset is {}.",
                             tensor.offset, tensor.offset / size);
  } else if (span <= elements) {
    facts.fix +=
        fmt::format("Its view of {} elements fits at offsets 0 to {}.", span, elements - span);
  } else {
    facts.fix += fmt::format(
        "Its view needs {} elements: the layout belongs to another, larger storage.", span);
  }
  return facts;
}

Facts seqlens_past_storage(const Call& call, TensorName subject) {
  const TensorSpec& seqlens = call.c.at(subject);
  const int64_t elements = call.c.storage_elements(seqlens);
  const int64_t count = seqlens.num_elements().value_or(0);
  Facts facts{.where = pointer_to(subject, "offset")};
  facts.fix = fmt::format("{} has {} entries from element {} on, and its storage ends after {}. ",
                          name_of(subject), count, seqlens.offset, elements);
  if (count <= elements) {
    facts.fix += fmt::format("They fit at offsets 0 to {}.", elements - count);
  } else if (const auto end = checked_add(seqlens.offset, count)) {
    facts.fix += fmt::format("Give the storage at least {} elements.", *end);
  }
  return facts;
}

}  // namespace

constinit const ContractRule kOffsetPastStorage{
    .rule = {.code = "FC-E801",
             .name = "offset-past-storage",
             .message = "called `Option::unwrap()` on a `None` value",
             .why = "The wrapper slices the storage from the tensor's start offset on, and the "
                    "slice unwraps: an offset beyond the storage's end panics, one at its very end "
                    "passes. candle's own views never get here; a layout made by hand, or from "
                    "another storage's numbers, does.",
             .fix = "Correct the offset (in elements, not bytes) or the storage.",
             .source = "candle-flash-attn/src/lib.rs:41-43, 115, 523-525, 675, 739-761"},
    .panics = true,
    .fails =
        [](const Call& call, TensorName subject) {
          const TensorSpec& tensor = call.c.at(subject);
          return tensor.offset > call.c.storage_elements(tensor);
        },
    .facts = offset_past_storage};

constinit const ContractRule kSeqlensPastStorage{
    .rule = {.code = "FC-E802",
             .name = "seqlens-past-storage",
             .message = "called `Option::unwrap()` on a `None` value",
             .why = "The wrapper slices the cumulative lengths from their offset to their last "
                    "element, and the slice unwraps: a view that ends beyond its storage panics.",
             .fix = "Correct the offset (in elements, not bytes), the length or the storage.",
             .source = "candle-flash-attn/src/lib.rs:487, 497"},
    .panics = true,
    .fails =
        [](const Call& call, TensorName subject) {
          const TensorSpec& seqlens = call.c.at(subject);
          if (!seqlens.is_contiguous()) return false;
          const int64_t elements = call.c.storage_elements(seqlens);
          return seqlens.offset > elements ||
                 seqlens.num_elements().value_or(0) > elements - seqlens.offset;
        },
    .facts = seqlens_past_storage};

}  // namespace flashcheck
