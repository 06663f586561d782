#include <fmt/format.h>

#include <optional>
#include <string>
#include <utility>

#include "src/hazards/families.h"
#include "src/spec/byte_runs.h"
#include "src/spec/checked.h"

namespace flashcheck {
namespace {

using std::to_string;

constexpr std::pair<TensorName, TensorName> kPairs[] = {{TensorName::kK, TensorName::kV},
                                                        {TensorName::kQ, TensorName::kK}};

bool is_same_view(const TensorSpec& a, const TensorSpec& b) {
  return a.storage == b.storage && a.offset == b.offset && a.shape == b.shape &&
         a.strides == b.strides && a.num_elements() != 0;
}

std::optional<ByteRuns> runs_of(const TensorSpec& tensor) {
  const int64_t bytes = size_in_bytes(tensor.dtype);
  std::vector<ByteLoop> loops;
  for (size_t dim = 0; dim < tensor.shape.size(); ++dim) {
    const std::optional<int64_t> stride = checked_mul(tensor.strides[dim], bytes);
    if (!stride) return std::nullopt;
    loops.push_back({tensor.shape[dim], *stride});
  }
  const std::optional<int64_t> begin = checked_mul(tensor.offset, bytes);
  return begin ? byte_runs(*begin, bytes, std::move(loops)) : std::nullopt;
}

/// Where the other half begins of a view whose rows, pages or heads are spaced twice their size.
std::optional<int64_t> other_half(const HazardContext& context, const TensorSpec& view) {
  for (size_t dim = view.shape.size() - 1; dim-- > 0;) {
    int64_t packed = 1;
    for (size_t inner = 0; inner < view.shape.size(); ++inner) {
      if (view.strides[inner] < view.strides[dim]) packed *= view.shape[inner];
    }
    if (view.shape[dim] < 2 || view.strides[dim] != 2 * packed) continue;
    const int64_t begin = view.offset + packed;
    if (begin + *view.span() <= context.c.storage_elements(view)) return begin;
  }
  return std::nullopt;
}

void check_same_view(const HazardContext& context, const Rule& rule, const EmitHazard& emit) {
  for (const auto& [first, second] : kPairs) {
    const TensorSpec& view = context.c.at(second);
    if (!is_same_view(context.c.at(first), view)) continue;
    const bool is_cache = second == TensorName::kV;
    const std::optional<int64_t> half = other_half(context, view);
    emit(make_finding(
        rule, fmt::format("/tensors/{}", name_of(second)),
        {{"first", std::string(name_of(first))},
         {"second", std::string(name_of(second))},
         {"meant", is_cache ? "a latent cache" : "attention of a tensor to itself"},
         {"hint", half ? fmt::format("; {} at offset {} looks meant", name_of(second), *half)
                       : std::string()}}));
  }
}

/// "v's head 0 is k's head 1: v starts 64 elements after k, k has 2*64 a row".
std::string how_they_overlap(const HazardContext& context, TensorName first, TensorName second) {
  if (context.c.at(second).offset < context.c.at(first).offset) std::swap(first, second);
  const TensorSpec &a = context.c.at(first), &b = context.c.at(second);
  const int64_t distance = b.offset - a.offset;
  const std::string_view a_name = name_of(first), b_name = name_of(second);
  std::string how = fmt::format("{} starts {} elements after {}", b_name, distance, a_name);
  const size_t rank = a.shape.size();
  for (size_t axis = 1; axis < 3; ++axis) {  // from the last: heads, then rows
    const size_t dim = rank - 1 - axis;
    const int64_t stride = a.strides[dim];
    if (stride == 0 || distance == 0 || distance % stride != 0) continue;
    if (distance / stride >= a.shape[dim]) continue;
    const char* name = axis == 1 ? "head" : "row";
    how = fmt::format("{0}'s {2} 0 is {1}'s {2} {3}: {4}", b_name, a_name, name, distance / stride,
                      how);
    return how + fmt::format(", {} has {}*{} a row", a_name, a.shape[rank - 2], a.shape[rank - 1]);
  }
  return how;
}

void check_overlap(const HazardContext& context, const Rule& rule, const EmitHazard& emit) {
  for (const auto& [first, second] : kPairs) {
    const TensorSpec &a = context.c.at(first), &b = context.c.at(second);
    if (a.storage != b.storage || is_same_view(a, b)) continue;
    const std::optional<ByteRuns> runs_a = runs_of(a), runs_b = runs_of(b);
    if (!runs_a || !runs_b || sharing_of(*runs_a, *runs_b) != Sharing::kShared) continue;
    emit(make_finding(rule, fmt::format("/tensors/{}", name_of(second)),
                      {{"first", std::string(name_of(first))},
                       {"second", std::string(name_of(second))},
                       {"how", how_they_overlap(context, first, second)}}));
  }
}

constexpr HazardRule kRules[] = {
    {.rule = {.code = "FC-H111",
              .name = "views-are-the-same",
              .severity = Severity::kInformation,
              .message = "{first} and {second} are the same bytes: only {meant} means that{hint}",
              .why = "Two views of one storage with the same offset and strides are one tensor.",
              .fix = "Nothing to do if that is meant; otherwise correct an offset.",
              .source = "kernels/flash.h:26-34"},
     .kind = HazardKind::kInformation,
     .callees = kCandle,
     .check = check_same_view},
    {.rule = {.code = "FC-H112",
              .name = "views-overlap",
              .severity = Severity::kWarning,
              .message = "{first} and {second} share bytes and are not the same view: {how}",
              .why = "An element of one tensor is another element of the other: an offset or a "
                     "stride is that of another layout.",
              .fix = "Correct the offset or the strides of one of them.",
              .source = "kernels/flash.h:26-34"},
     .kind = HazardKind::kWrong,
     .callees = kCandle,
     .check = check_overlap},
};

}  // namespace

std::span<const HazardRule> shared_bytes_hazards() { return kRules; }

}  // namespace flashcheck
