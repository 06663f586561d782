#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "src/spec/device.h"
#include "src/spec/dtype.h"

namespace flashcheck {

/// Elements written out in the case, flat, in logical (row-major) order of the tensor's shape.
/// `ints` for integer dtypes, `floats` for floating ones; the other stays empty.
struct LiteralValues {
  std::vector<int64_t> ints;
  std::vector<double> floats;
};

/// Elements made by a named generator; docs/case-format.md defines each, src/inputs/fill.h makes
/// them.
struct Fill {
  enum class Generator : uint8_t { kNormal, kUniform, kConstant, kRamp };
  Generator generator = Generator::kNormal;
  uint64_t seed = 0;              // normal, uniform
  double mean = 0, std = 1;       // normal
  double low = -1, high = 1;      // uniform: [low, high)
  double value = 0;               // constant
  double start = 0, step = 1;     // ramp: (start + step * (n % modulo)) / divide * multiply,
  int64_t modulo = 0;             //   0: n is not reduced
  double divide = 1;              //   rounded to the dtype after the division,
  double multiply = 1;            //   `multiply` too, and once more after the product
  bool in_storage_order = false;  // ramp: n counts storage elements from the tensor's offset,
                                  //   not the tensor's logical index
};

/// Elements in a file beside the case. The loader has read the header and checked it against the
/// spec; the bytes are read when inputs are made.
struct FileValues {
  std::string path;
  int64_t begin_bytes = 0;   // of the first element
  int64_t num_elements = 0;  // row-major, little-endian, of the tensor's dtype
};

using Values = std::variant<std::monostate, LiteralValues, Fill, FileValues>;

/// What a case claims of one tensor: an untested view of a storage. Never owns elements.
/// The loader guarantees: as many strides as dims (a candle Layout cannot have another number), all
/// of shape, strides and offset in [0, 2^63), and that their products fit.
struct TensorSpec {
  Dtype dtype = Dtype::kF16;
  std::vector<int64_t> shape;
  std::vector<int64_t> strides;  // elements
  int64_t offset = 0;            // elements from the storage's start
  Device device;
  int64_t storage = 0;            // index into Case::storages
  std::vector<std::string> axes;  // what the user believes the dims are; empty: not said
  // Shared, not copied: the tests of one file differ in a few tensors only.
  std::shared_ptr<const Values> values = std::make_shared<const Values>();

  int rank() const { return static_cast<int>(shape.size()); }
  /// The product of the dims; nothing if it does not fit an int64.
  std::optional<int64_t> num_elements() const;
  /// 1 + the largest element index reachable from `offset` on (sum of (dim - 1) * stride, plus 1),
  /// or 0 if a dim is 0; nothing if it does not fit. The offset is not in it.
  std::optional<int64_t> span() const;
  /// As candle's Shape::is_contiguous (candle-core/src/shape.rs:153-165): row-major, where the
  /// stride of a dim of size 0 or 1 does not matter.
  bool is_contiguous() const;
};

/// Row-major strides of a shape in elements; nothing if a product does not fit.
std::optional<std::vector<int64_t>> contiguous_strides(const std::vector<int64_t>& shape);

/// Calls f(element index in the storage) for every element, in logical (row-major) order.
/// Precondition: the view's addresses fit, as the loader guarantees.
template <typename F>
void for_each_element(const TensorSpec& tensor, F&& f) {
  std::vector<int64_t> index(tensor.shape.size(), 0);
  const int64_t count = tensor.num_elements().value_or(0);
  int64_t at = tensor.offset;
  for (int64_t n = 0; n < count; ++n) {
    f(at);
    for (size_t dim = index.size(); dim-- > 0;) {
      if (index[dim] + 1 < tensor.shape[dim]) {  // never a step past the view: it could overflow
        ++index[dim];
        at += tensor.strides[dim];
        break;
      }
      at -= index[dim] * tensor.strides[dim];
      index[dim] = 0;
    }
  }
}

/// An allocation that tensors are views of.
struct StorageSpec {
  std::string name;      // as in `storages`, or the tensor's name for one of its own
  int64_t elements = 0;  // counted in the dtype of the tensor that looks at it
};

}  // namespace flashcheck
