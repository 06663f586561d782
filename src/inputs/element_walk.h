#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "src/spec/checked.h"
#include "src/spec/tensor_spec.h"

namespace flashcheck {

/// The elements of a tensor that lie inside its storage, in logical (row-major) order. Of a dim of
/// stride 0 only the last index is walked: the others are the same element, and the last write
/// wins.
class ElementWalk {
 public:
  ElementWalk(const TensorSpec& tensor, int64_t storage_elements)
      : first_index_(tensor.offset), storage_elements_(storage_elements) {
    const std::optional<int64_t> span = tensor.span();
    const std::optional<int64_t> end = span ? checked_add(tensor.offset, *span) : std::nullopt;
    // An end beyond 2^63 is no place for a value: such a call is never run.
    is_empty_ = !end || tensor.num_elements().value_or(0) == 0;
    if (is_empty_) return;
    int64_t logical_stride = 1;
    num_steps_ = 1;
    for (size_t i = tensor.shape.size(); i-- > 0;) {
      const int64_t size = tensor.shape[i];
      if (tensor.strides[i] == 0) {
        first_n_ += (size - 1) * logical_stride;
      } else if (size != 1) {
        dims_.push_back({size, tensor.strides[i], logical_stride});
        num_steps_ *= size;
      }
      logical_stride *= size;
    }
  }

  /// How many elements are visited, those outside the storage included.
  int64_t num_steps() const { return num_steps_; }

  /// Calls visit(n, index): the logical index, and the element counted from the storage's start.
  template <typename Visit>
  void for_each(Visit visit) const {
    if (is_empty_) return;
    std::vector<int64_t> at(dims_.size(), 0);
    int64_t n = first_n_, index = first_index_;
    for (;;) {
      if (index < storage_elements_) visit(n, index);
      size_t i = 0;  // the innermost dim comes first
      for (; i < dims_.size(); ++i) {
        if (++at[i] < dims_[i].size) {
          n += dims_[i].logical_stride;
          index += dims_[i].stride;
          break;
        }
        // Back to its start, never one step past its end: that may not fit.
        n -= (dims_[i].size - 1) * dims_[i].logical_stride;
        index -= (dims_[i].size - 1) * dims_[i].stride;
        at[i] = 0;
      }
      if (i == dims_.size()) return;
    }
  }

 private:
  struct Dim {
    int64_t size, stride, logical_stride;
  };
  std::vector<Dim> dims_;  // innermost first, those of size 1 or stride 0 left out
  int64_t first_n_ = 0, first_index_ = 0, storage_elements_ = 0, num_steps_ = 0;
  bool is_empty_ = false;
};

}  // namespace flashcheck
