#include "src/contract/text.h"

#include <fmt/format.h>

#include <utility>

namespace flashcheck {

std::string rust_list(const std::vector<int64_t>& numbers) {
  return fmt::format("[{}]", fmt::join(numbers, ", "));
}

std::string either(const std::vector<int64_t>& numbers) {
  std::string text;
  for (size_t i = 0; i < numbers.size(); ++i) {
    if (i > 0) text += i + 1 == numbers.size() ? " or " : ", ";
    text += std::to_string(numbers[i]);
  }
  return text;
}

std::string pointer_to(TensorName name, std::string_view member) {
  return fmt::format("/tensors/{}/{}", name_of(name), member);
}

std::string rust_path(Dtype dtype) { return fmt::format("DType::{}", rust_name_of(dtype)); }

std::string_view axis_name(bool paged_kv, int rank, int axis) {
  switch (rank - axis) {
    case 1:
      return "head_dim";
    case 2:
      return "heads";
    case 3:
      return paged_kv ? "page rows" : "rows";
    default:
      return paged_kv ? "pages" : "batch";
  }
}

std::vector<int64_t> transposed(std::vector<int64_t> shape, size_t axis, size_t other) {
  std::swap(shape[axis], shape[other]);
  return shape;
}

}  // namespace flashcheck
