#include "src/load/values_reader.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <limits>

#include "src/load/case_file_rules.h"
#include "src/load/case_keys.h"
#include "src/load/json_reader.h"
#include "src/load/listed.h"
#include "src/spec/tensor.h"

namespace flashcheck {
namespace {

struct IntegerRange {
  int64_t low, high;
};

template <typename T>
constexpr IntegerRange range_of() {
  return {std::numeric_limits<T>::min(), std::numeric_limits<T>::max()};
}

IntegerRange range_of(Dtype dtype) {
  switch (dtype) {
    case Dtype::kU8:
      return range_of<uint8_t>();
    case Dtype::kU32:
      return range_of<uint32_t>();
    case Dtype::kI16:
      return range_of<int16_t>();
    case Dtype::kI32:
      return range_of<int32_t>();
    default:
      return range_of<int64_t>();
  }
}

/// Whether every level of `values` has as many entries as its dim; a complaint at the first that
/// has not.
bool expect_nested(const JsonValue& values, std::span<const int64_t> shape, size_t dim,
                   Complaints& complaints) {
  if (!expect_array(values, complaints)) return false;
  if (values.children.size() != static_cast<size_t>(shape[dim])) {
    complaints.add(complaint::kWrongNumberOfValues, values,
                   fmt::format("an array of {} for dim {} of the shape [{}]", shape[dim], dim,
                               fmt::join(shape, ", ")),
                   describe(values, complaints.text()));
    return false;
  }
  if (dim + 1 == shape.size()) return true;
  return std::all_of(values.children.begin(), values.children.end(), [&](const JsonValue* child) {
    return expect_nested(*child, shape, dim + 1, complaints);
  });
}

/// The values `depth` levels down.
void append_leaves(const JsonValue& values, size_t depth, std::vector<const JsonValue*>& leaves) {
  if (depth == 0) {
    leaves.push_back(&values);
    return;
  }
  for (const JsonValue* child : values.children) append_leaves(*child, depth - 1, leaves);
}

}  // namespace

std::shared_ptr<const Values> ValuesReader::read_literal(const JsonValue& values, Dtype dtype,
                                                         const std::vector<int64_t>& shape) {
  if (!values.is_array() && shape.empty()) {
    const JsonValue* scalar = &values;
    return convert({&scalar, 1}, dtype);
  }
  if (!expect_array(values, complaints_)) return nullptr;
  const bool is_nested =
      !shape.empty() && !values.children.empty() && values.children[0]->is_array();
  if (is_nested ? !is_nested_as(values, shape) : !is_flat_as(values, shape)) return nullptr;

  const size_t depth = is_nested ? shape.size() : 1;  // of the elements below `values`
  const auto [literal, is_new] = literals_.try_emplace({&values, dtype, depth});
  if (is_new) {
    std::vector<const JsonValue*> leaves;
    append_leaves(values, depth, leaves);
    literal->second = convert(leaves, dtype);
  }
  return literal->second;
}

bool ValuesReader::is_nested_as(const JsonValue& values, const std::vector<int64_t>& shape) {
  const auto [nested, is_new] = nested_.try_emplace({&values, shape}, false);
  if (is_new) nested->second = expect_nested(values, shape, 0, complaints_);
  return nested->second;
}

bool ValuesReader::is_flat_as(const JsonValue& values, const std::vector<int64_t>& shape) {
  const int64_t num_elements = *TensorSpec{.shape = shape}.num_elements();
  if (static_cast<int64_t>(values.children.size()) == num_elements) return true;
  complaints_.add(complaint::kWrongNumberOfValues, values,
                  fmt::format("{} values for the shape [{}]", num_elements, fmt::join(shape, ", ")),
                  fmt::format("{}", values.children.size()));
  return false;
}

std::shared_ptr<const Values> ValuesReader::convert(std::span<const JsonValue* const> leaves,
                                                    Dtype dtype) {
  LiteralValues literal;
  constexpr int kEnough = 3;  // complaints about one tensor's elements
  int complaints = 0;
  if (is_floating(dtype)) {
    literal.floats.reserve(leaves.size());
    for (const JsonValue* leaf : leaves) {
      const std::optional<double> element = read_real(*leaf, complaints_);
      const double rounded = element ? round_to(dtype, *element) : 0;
      if (element && std::isfinite(*element) == std::isfinite(rounded) &&
          std::isnan(*element) == std::isnan(rounded)) {
        literal.floats.push_back(*element);
        continue;
      }
      if (element) {
        complaints_.add(complaint::kValueOutOfRange, *leaf,
                        fmt::format("a number that {} holds", name_of(dtype)),
                        describe(*leaf, complaints_.text()));
      }
      if (++complaints == kEnough) return nullptr;
    }
  } else {
    literal.ints.reserve(leaves.size());
    const auto [low, high] = range_of(dtype);
    for (const JsonValue* leaf : leaves) {
      if (leaf->kind == JsonValue::Kind::kInteger && leaf->integer >= low &&
          leaf->integer <= high) {
        literal.ints.push_back(leaf->integer);
        continue;
      }
      read_integer(*leaf, low, high, complaints_);
      if (++complaints == kEnough) return nullptr;
    }
  }
  if (complaints > 0) return nullptr;
  return std::make_shared<const Values>(std::move(literal));
}

std::optional<Fill> ValuesReader::read_fill(const JsonValue& object) {
  if (!expect_object(object, complaints_)) return std::nullopt;
  const JsonValue* generator = require(object, "generator", complaints_);
  if (!generator) return std::nullopt;
  const std::optional<size_t> index = read_word(*generator, kGenerators, complaints_);
  if (!index) return std::nullopt;

  Fill fill{.generator = static_cast<Fill::Generator>(*index)};
  const std::array<std::span<const std::string_view>, 4> keys{kNormalKeys, kUniformKeys,
                                                              kConstantKeys, kRampKeys};
  bool is_good = expect_keys(object, keys[*index], complaints_);
  const auto read = [&](std::string_view key, auto& field, auto&& read_field) {
    const JsonValue* member = find_given(object, key);
    if (!member) return;
    const auto value = read_field(*member);
    is_good = is_good && value.has_value();
    if (value) field = *value;
  };
  const auto finite = [&](const JsonValue& member) {
    std::optional<double> value = read_real(member, complaints_);
    if (value && !std::isfinite(*value)) {
      complaints_.add(complaint::kNumberOutOfRange, member, "a finite number",
                      describe(member, complaints_.text()));
      value.reset();
    }
    return value;
  };
  const auto real = [&](const JsonValue& member) { return read_real(member, complaints_); };
  const auto usize = [&](const JsonValue& member) { return read_usize(member, complaints_); };
  switch (fill.generator) {
    case Fill::Generator::kNormal:
      read("mean", fill.mean, finite);
      read("std", fill.std, finite);
      break;
    case Fill::Generator::kUniform:
      read("low", fill.low, finite);
      read("high", fill.high, finite);
      break;
    case Fill::Generator::kConstant:
      if (!require(object, "value", complaints_)) return std::nullopt;
      read("value", fill.value, real);
      break;
    case Fill::Generator::kRamp:
      read("start", fill.start, finite);
      read("step", fill.step, finite);
      read("modulo", fill.modulo, usize);
      read("divide", fill.divide, finite);
      read("multiply", fill.multiply, finite);
      read("order", fill.in_storage_order, [&](const JsonValue& member) -> std::optional<bool> {
        const std::optional<size_t> order = read_word(member, kOrders, complaints_);
        return order ? std::optional(kOrders[*order] == "storage") : std::nullopt;
      });
      break;
  }
  read("seed", fill.seed,
       [&](const JsonValue& member) { return read_uint64(member, complaints_); });
  if (fill.low > fill.high) {
    complaints_.add(complaint::kContradiction, object, "low <= high",
                    fmt::format("low {} and high {}", fill.low, fill.high));
    is_good = false;
  }
  if (fill.std < 0 || fill.divide == 0) {
    complaints_.add_member(complaint::kNumberOutOfRange, object, fill.std < 0 ? "std" : "divide",
                           fill.std < 0 ? "a number that is not negative" : "a number other than 0",
                           fmt::format("{}", fill.std < 0 ? fill.std : fill.divide));
    is_good = false;
  }
  return is_good ? std::optional(fill) : std::nullopt;
}

std::optional<std::pair<std::string, ValueFileTensor>> ValuesReader::read_file(
    const JsonValue& file, const JsonValue& tensor_object) {
  const std::optional<std::string_view> name = read_string(file, complaints_);
  if (!name) return std::nullopt;
  const bool is_safetensors = name->ends_with(".safetensors");
  if ((!is_safetensors && !name->ends_with(".npy")) || name->find('\0') != std::string_view::npos) {
    complaints_.add(complaint::kWrongForm, file, "the path of a .safetensors or .npy file",
                    describe(file, complaints_.text()));
    return std::nullopt;
  }
  const JsonValue* entry = find_given(tensor_object, "tensor");
  if (entry && !is_safetensors) {
    complaints_.add(complaint::kContradiction, *entry,
                    "no `tensor` with a .npy file, which has one",
                    describe(*entry, complaints_.text()));
    return std::nullopt;
  }
  if (is_safetensors && !entry && !require(tensor_object, "tensor", complaints_)) {
    return std::nullopt;
  }
  std::optional<std::string_view> entry_name = std::string_view();
  if (entry) entry_name = read_string(*entry, complaints_);
  if (!entry_name) return std::nullopt;

  std::string path = (std::filesystem::path(directory_) / std::string(*name)).string();
  const ValueFiles::Found& found = files_.open(path);
  if (const auto* problem = std::get_if<ValueFileProblem>(&found)) {
    complaints_.add(*problem->rule, file, problem->expected, problem->got);
    return std::nullopt;
  }
  const auto& tensors = std::get<ValueFiles::Tensors>(found);
  const auto match = std::find_if(tensors.begin(), tensors.end(),
                                  [&](const ValueFileTensor& t) { return t.name == *entry_name; });
  if (match == tensors.end()) {
    std::vector<std::string_view> names;
    constexpr size_t kMaxListed = 20;
    for (size_t i = 0; i < tensors.size() && i < kMaxListed; ++i) names.push_back(tensors[i].name);
    std::sort(names.begin(), names.end());
    complaints_.add(complaint::kValueFileDiffers, *entry,
                    names.empty() ? "a file with entries" : "one of the entries " + listed(names),
                    describe(*entry, complaints_.text()));
    return std::nullopt;
  }
  return std::pair(std::move(path), *match);
}

}  // namespace flashcheck
