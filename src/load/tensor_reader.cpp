#include "src/load/tensor_reader.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "src/load/case_file_rules.h"
#include "src/load/case_keys.h"
#include "src/load/json_reader.h"
#include "src/spec/checked.h"

namespace flashcheck {
namespace {

constexpr size_t kMaxRank = 16;

using FileTensor = std::pair<std::string, ValueFileTensor>;

std::string listed_dims(const std::vector<int64_t>& dims) {
  return fmt::format("[{}]", fmt::join(dims, ", "));
}

std::optional<std::vector<int64_t>> read_dims(const JsonValue& array, Complaints& complaints) {
  if (!expect_array(array, complaints)) return std::nullopt;
  if (array.children.size() > kMaxRank) {
    complaints.add(complaint::kTooLarge, array, fmt::format("at most {} dims", kMaxRank),
                   fmt::format("{}", array.children.size()));
    return std::nullopt;
  }
  std::vector<int64_t> dims;
  dims.reserve(array.children.size());
  for (const JsonValue* child : array.children) {
    if (const auto dim = read_usize(*child, complaints)) dims.push_back(*dim);
  }
  if (dims.size() != array.children.size()) return std::nullopt;
  return dims;
}

/// The case's dtype, which must be one that the file's elements can have, or else the file's.
std::optional<Dtype> read_dtype(const JsonValue& object, const FileTensor* file,
                                Complaints& complaints) {
  const JsonValue* given = find_given(object, "dtype");
  if (!given) {
    if (!file) {
      require(object, "dtype", complaints);
      return std::nullopt;
    }
    if (file->second.dtype) return file->second.dtype;
    complaints.add_member(complaint::kValueFileDiffers, object, "dtype",
                          file->second.only_if ? fmt::format("the dtype {}, said by the case",
                                                             name_of(*file->second.only_if))
                                               : "elements of a dtype that a case can name",
                          fmt::format("the file's {}", file->second.stored_dtype));
    return std::nullopt;
  }
  const std::optional<size_t> index = read_word(*given, kDtypes, complaints);
  if (!index) return std::nullopt;
  const Dtype dtype = static_cast<Dtype>(*index);
  if (file && dtype != file->second.dtype && dtype != file->second.only_if) {
    complaints.add(complaint::kValueFileDiffers, *given,
                   fmt::format("the file's dtype, {}", file->second.stored_dtype),
                   describe(*given, complaints.text()));
    return std::nullopt;
  }
  return dtype;
}

std::optional<std::vector<int64_t>> read_shape(const JsonValue& object, const LayoutView* view,
                                               const FileTensor* file, Complaints& complaints) {
  if (view && !file) return view->shape;
  const JsonValue* given = find_given(object, view ? "layout" : "shape");
  if (!given) {
    if (!file) {
      require(object, "shape", complaints);
      return std::nullopt;
    }
    if (file->second.shape.size() <= kMaxRank) return file->second.shape;
    complaints.add_member(complaint::kTooLarge, object, "file",
                          fmt::format("a tensor of at most {} dims", kMaxRank),
                          fmt::format("{}", file->second.shape.size()));
    return std::nullopt;
  }
  std::optional<std::vector<int64_t>> shape = view ? view->shape : read_dims(*given, complaints);
  if (shape && file && *shape != file->second.shape) {
    complaints.add(complaint::kValueFileDiffers, *given,
                   fmt::format("the file's shape, {}", listed_dims(file->second.shape)),
                   listed_dims(*shape));
    return std::nullopt;
  }
  return shape;
}

/// The strides that the case gives, or row-major ones. Products that overflow are complaints
/// whoever gives the strides: candle computes row-major ones for the output.
std::optional<std::vector<int64_t>> read_strides(const JsonValue& object,
                                                 const std::vector<int64_t>& shape,
                                                 Complaints& complaints) {
  std::optional<std::vector<int64_t>> row_major = contiguous_strides(shape);
  if (!row_major || !TensorSpec{.shape = shape}.num_elements()) {
    complaints.add_member(complaint::kSizeOverflows, object, "shape",
                          "dims whose product is at most 9223372036854775807", listed_dims(shape));
    return std::nullopt;
  }
  const JsonValue* given = find_given(object, "strides");
  if (!given) return row_major;
  std::optional<std::vector<int64_t>> strides = read_dims(*given, complaints);
  if (strides && strides->size() != shape.size()) {
    complaints.add(complaint::kStridesDoNotFit, *given,
                   fmt::format("{} strides for the shape {}", shape.size(), listed_dims(shape)),
                   fmt::format("{}", strides->size()));
    return std::nullopt;
  }
  return strides;
}

/// Whether the last byte that the tensor can reach has an int64 address.
bool expect_addressable(const TensorSpec& tensor, const JsonValue& object, Complaints& complaints) {
  const std::optional<int64_t> span = tensor.span();
  const std::optional<int64_t> elements = span ? checked_add(tensor.offset, *span) : std::nullopt;
  const std::optional<int64_t> bytes =
      elements ? checked_mul(*elements, size_in_bytes(tensor.dtype)) : std::nullopt;
  if (bytes) return true;
  complaints.add(
      complaint::kSizeOverflows, object,
      "offset + sum of (dim - 1) * stride + 1 to be at most 9223372036854775807 bytes",
      fmt::format("offset {}, shape {}, strides {} in {}", tensor.offset, listed_dims(tensor.shape),
                  listed_dims(tensor.strides), name_of(tensor.dtype)));
  return false;
}

bool read_axes(const JsonValue& array, TensorSpec& tensor, Complaints& complaints) {
  if (!expect_array(array, complaints)) return false;
  if (array.children.size() != tensor.shape.size()) {
    complaints.add(
        complaint::kWrongNumberOfValues, array,
        fmt::format("{} axes for the shape {}", tensor.shape.size(), listed_dims(tensor.shape)),
        fmt::format("{}", array.children.size()));
    return false;
  }
  for (const JsonValue* child : array.children) {
    const std::optional<size_t> axis = read_word(*child, kAxes, complaints);
    if (!axis) return false;
    const std::string name(kAxes[*axis]);
    if (std::find(tensor.axes.begin(), tensor.axes.end(), name) != tensor.axes.end()) {
      complaints.add(complaint::kContradiction, *child, "each axis once",
                     in_quotes(name) + " again");
      return false;
    }
    tensor.axes.push_back(name);
  }
  return true;
}

/// Whether at most one source of values is given.
bool expect_one_source(const JsonValue& object, Complaints& complaints) {
  std::vector<std::string_view> given;
  for (std::string_view source : {"values", "fill", "file"}) {
    if (find_given(object, source)) given.push_back(source);
  }
  if (given.size() > 1) {
    complaints.add(complaint::kContradiction, object, "at most one of values, fill and file",
                   fmt::format("{}", fmt::join(given, " and ")));
    return false;
  }
  const JsonValue* entry = find_given(object, "tensor");
  if (!entry || find_given(object, "file")) return true;
  complaints.add(complaint::kContradiction, *entry, "no `tensor` without a `file`",
                 describe(*entry, complaints.text()));
  return false;
}

}  // namespace

std::optional<TensorSpec> read_tensor(const JsonValue& object, const LayoutView* view,
                                      ValuesReader& values, Complaints& complaints) {
  if (!expect_object(object, complaints)) return std::nullopt;
  bool is_good = expect_keys(object, kTensorKeys, complaints);
  if (!expect_one_source(object, complaints)) return std::nullopt;

  std::optional<FileTensor> file;
  if (const JsonValue* given = find_given(object, "file")) {
    file = values.read_file(*given, object);
    if (!file) return std::nullopt;
  }
  const FileTensor* from = file ? &*file : nullptr;
  const std::optional<Dtype> dtype = read_dtype(object, from, complaints);
  std::optional<std::vector<int64_t>> shape = read_shape(object, view, from, complaints);

  TensorSpec tensor;
  if (view) {
    tensor.offset = view->offset;
  } else if (const JsonValue* given = find_given(object, "offset")) {
    const std::optional<int64_t> offset = read_usize(*given, complaints);
    is_good = is_good && offset;
    tensor.offset = offset.value_or(0);
  }
  if (const JsonValue* given = find_given(object, "device")) {
    const std::optional<std::string_view> name = read_string(*given, complaints);
    const std::optional<Device> device = name ? parse_device(*name) : std::nullopt;
    if (name && !device) {
      complaints.add(complaint::kWrongForm, *given, "a device: cpu, cuda:N or metal:N",
                     in_quotes(*name));
    }
    is_good = is_good && device;
    if (device) tensor.device = *device;
  }
  if (!shape) return std::nullopt;
  tensor.shape = std::move(*shape);
  std::optional<std::vector<int64_t>> strides =
      view ? view->strides : read_strides(object, tensor.shape, complaints);
  if (!strides || !dtype) return std::nullopt;
  tensor.strides = std::move(*strides);
  tensor.dtype = *dtype;
  is_good = expect_addressable(tensor, object, complaints) && is_good;

  if (const JsonValue* given = find_given(object, "axes")) {
    is_good = read_axes(*given, tensor, complaints) && is_good;
  }
  if (const JsonValue* given = find_given(object, "values")) {
    tensor.values = values.read_literal(*given, tensor.dtype, tensor.shape);
    is_good = is_good && tensor.values;
  } else if (const JsonValue* given = find_given(object, "fill")) {
    const std::optional<Fill> fill = values.read_fill(*given);
    is_good = is_good && fill;
    if (fill) tensor.values = std::make_shared<const Values>(*fill);
  } else if (file) {
    tensor.values = std::make_shared<const Values>(
        FileValues{std::move(file->first), file->second.begin_bytes, file->second.num_elements});
  }
  if (!is_good) return std::nullopt;
  return tensor;
}

int64_t elements_needed(const TensorSpec& tensor) { return tensor.offset + *tensor.span(); }

}  // namespace flashcheck
