#include "src/spec/tensor_spec.h"

#include "src/spec/checked.h"

namespace flashcheck {

std::optional<int64_t> TensorSpec::num_elements() const {
  for (int64_t dim : shape) {
    if (dim == 0) return 0;
  }
  std::optional<int64_t> product = 1;
  for (int64_t dim : shape) {
    product = checked_mul(*product, dim);
    if (!product) return std::nullopt;
  }
  return product;
}

std::optional<int64_t> TensorSpec::span() const {
  std::optional<int64_t> last = 0;
  for (size_t i = 0; i < shape.size(); ++i) {
    if (shape[i] == 0) return 0;
    const std::optional<int64_t> reach = checked_mul(shape[i] - 1, strides[i]);
    last = reach ? checked_add(*last, *reach) : std::nullopt;
    if (!last) return std::nullopt;
  }
  return checked_add(*last, 1);
}

bool TensorSpec::is_contiguous() const {
  int64_t expected = 1;
  for (size_t i = shape.size(); i-- > 0;) {
    if (shape[i] > 1 && strides[i] != expected) return false;
    // Cannot overflow in a loaded spec; an absurd one is then simply not contiguous.
    if (__builtin_mul_overflow(expected, shape[i], &expected)) return false;
  }
  return true;
}

std::optional<std::vector<int64_t>> contiguous_strides(const std::vector<int64_t>& shape) {
  std::vector<int64_t> strides(shape.size(), 1);
  for (size_t i = shape.size(); i-- > 1;) {
    const std::optional<int64_t> stride = checked_mul(strides[i], shape[i]);
    if (!stride) return std::nullopt;
    strides[i - 1] = *stride;
  }
  return strides;
}

}  // namespace flashcheck
