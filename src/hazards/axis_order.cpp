#include "src/hazards/axis_order.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace flashcheck {
namespace {

bool holds(const std::vector<std::string>& axes, std::string_view axis) {
  return std::find(axes.begin(), axes.end(), axis) != axes.end();
}

}  // namespace

std::vector<std::string> axes_taken(const WrapperFunction& function, TensorName name) {
  switch (name) {
    case TensorName::kK:
    case TensorName::kV:
      if (function.paged) return {"page", "token", "head", "dim"};
      [[fallthrough]];
    case TensorName::kQ:
    case TensorName::kOut:
      if (function.varlen) return {"token", "head", "dim"};
      return {"batch", "token", "head", "dim"};
    case TensorName::kLse:
      if (function.varlen) return {"head", "token"};
      return {"batch", "head", "token"};
    case TensorName::kBlockTable:
      return {"sequence", "entry"};
    case TensorName::kMmPrefixRanges:
      return {"sequence", "range", "bound"};
    case TensorName::kSeqlensQ:
    case TensorName::kSeqlensK:
    case TensorName::kAlibiSlopes:
      return {};
  }
  return {};
}

std::vector<std::string> in_words_of(const std::vector<std::string>& taken,
                                     std::vector<std::string> declared) {
  constexpr std::pair<std::string_view, std::string_view> kSynonyms[] = {
      {"sequence", "token"}, {"sequence", "batch"}, {"batch", "sequence"}, {"page", "entry"}};
  for (std::string& axis : declared) {
    if (holds(taken, axis)) continue;
    for (const auto& [word, meaning] : kSynonyms) {
      if (axis != word || !holds(taken, meaning) || holds(declared, meaning)) continue;
      axis = meaning;
      break;
    }
  }
  return declared;
}

std::optional<std::vector<size_t>> permutation_to(const std::vector<std::string>& taken,
                                                  const std::vector<std::string>& declared) {
  if (taken.size() != declared.size()) return std::nullopt;
  std::vector<size_t> permutation;
  for (const std::string& axis : taken) {
    const auto found = std::find(declared.begin(), declared.end(), axis);
    if (found == declared.end()) return std::nullopt;
    permutation.push_back(static_cast<size_t>(found - declared.begin()));
  }
  return permutation;
}

std::vector<size_t> moved_dims(const std::vector<size_t>& permutation) {
  std::vector<size_t> moved;
  for (size_t dim = 0; dim < permutation.size(); ++dim) {
    if (permutation[dim] != dim) moved.push_back(dim);
  }
  return moved;
}

std::string reordering_call(TensorName name, const std::vector<size_t>& permutation) {
  const std::vector<size_t> moved = moved_dims(permutation);
  if (moved.size() == 2) {
    return fmt::format("{}.transpose({}, {})?", name_of(name), moved[0], moved[1]);
  }
  return fmt::format("{}.permute(({}))?", name_of(name), fmt::join(permutation, ", "));
}

std::vector<int64_t> reordered(const std::vector<int64_t>& dims,
                               const std::vector<size_t>& permutation) {
  std::vector<int64_t> view;
  for (const size_t dim : permutation) view.push_back(dims[dim]);
  return view;
}

}  // namespace flashcheck
