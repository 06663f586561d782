#include "src/inputs/inputs.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <new>
#include <stdexcept>
#include <utility>

#include "src/inputs/element_walk.h"
#include "src/inputs/file_values.h"
#include "src/inputs/fill.h"
#include "src/inputs/input_rules.h"
#include "src/spec/checked.h"
#include "src/spec/random_bits.h"

namespace flashcheck {
namespace {

constexpr int64_t kMaxElements = int64_t{1} << 33;  // written to one tensor: minutes, not hours
// The output, five arrays of the reference and the ratios of errors, as doubles.
constexpr int64_t kComparisonBytes = 7 * sizeof(double);
// Of a table or of lengths, for the static rules: a larger storage is a view's stride gone wrong.
constexpr int64_t kMaxSmallBytes = int64_t{64} << 20;
constexpr double kFitsEverywhere = 448;                   // the largest f8e4m3
constexpr int64_t kAddressSpaceBytes = int64_t{1} << 47;  // of a process; more is not worth a try

bool is_large(TensorName name) {
  return name == TensorName::kQ || name == TensorName::kK || name == TensorName::kV ||
         name == TensorName::kOut || name == TensorName::kLse;
}

std::string pointer_to(TensorName name) { return fmt::format("/tensors/{}", name_of(name)); }

/// The size of each storage: what the widest of the tensors that look at it needs.
std::vector<std::optional<int64_t>> storage_sizes(const Case& c, bool with_data) {
  std::vector<std::optional<int64_t>> sizes(c.storages.size(), 0);
  for (int i = 0; i < kNumTensors; ++i) {
    const TensorSpec* tensor = c.find(static_cast<TensorName>(i));
    if (!tensor || (!with_data && is_large(static_cast<TensorName>(i)))) continue;
    std::optional<int64_t>& size = sizes[static_cast<size_t>(tensor->storage)];
    const std::optional<int64_t> needed =
        checked_mul(c.storage_elements(*tensor), size_in_bytes(tensor->dtype));
    const bool is_filled =
        has_values(*tensor) || static_cast<TensorName>(i) == TensorName::kAlibiSlopes;
    if (!with_data && (!is_filled || !needed || *needed > kMaxSmallBytes)) continue;
    size = size && needed ? std::optional(std::max(*size, *needed)) : std::nullopt;
  }
  return sizes;
}

std::vector<StorageBytes> allocate(const Case& c, bool with_data) {
  const std::vector<std::optional<int64_t>> sizes = storage_sizes(c, with_data);
  std::vector<StorageBytes> storages;
  storages.reserve(sizes.size());
  for (size_t i = 0; i < sizes.size(); ++i) {
    try {
      if (!sizes[i] || *sizes[i] > kAddressSpaceBytes) throw std::bad_alloc();
      storages.emplace_back(*sizes[i]);
    } catch (const std::bad_alloc&) {
      throw InputError{
          make_finding(kNotEnoughMemory, "",
                       {{"storage", c.storages[i].name},
                        {"bytes", sizes[i] ? std::to_string(*sizes[i]) : "more than 2^63"}})};
    }
  }
  return storages;
}

[[noreturn]] void value_does_not_fit(TensorName name, Dtype dtype, int64_t n, std::string value) {
  throw InputError{make_finding(kValueDoesNotFit, pointer_to(name),
                                {{"tensor", std::string(name_of(name))},
                                 {"index", std::to_string(n)},
                                 {"value", std::move(value)},
                                 {"dtype", std::string(name_of(dtype))}})};
}

std::pair<int64_t, int64_t> integer_range(Dtype dtype) {
  switch (dtype) {
    case Dtype::kU8:
      return {0, 255};
    case Dtype::kU32:
      return {0, std::numeric_limits<uint32_t>::max()};
    case Dtype::kI16:
      return {std::numeric_limits<int16_t>::min(), std::numeric_limits<int16_t>::max()};
    case Dtype::kI32:
      return {std::numeric_limits<int32_t>::min(), std::numeric_limits<int32_t>::max()};
    default:
      return {std::numeric_limits<int64_t>::min(), std::numeric_limits<int64_t>::max()};
  }
}

template <typename T>
void store(StorageBytes& storage, int64_t index, T value) {
  std::memcpy(storage.begin() + index * static_cast<int64_t>(sizeof(T)), &value, sizeof(T));
}

/// Exactly, also beyond 2^53. Precondition: in range.
void write_integer(StorageBytes& storage, Dtype dtype, int64_t index, int64_t value) {
  switch (size_in_bytes(dtype)) {
    case 1:
      return store(storage, index, static_cast<uint8_t>(value));
    case 2:
      return store(storage, index, static_cast<uint16_t>(value));
    case 4:
      return store(storage, index, static_cast<uint32_t>(value));
    default:
      return store(storage, index, value);
  }
}

/// Writes one tensor's values into its storage.
struct Writer {
  TensorName name;
  const TensorSpec& tensor;
  StorageBytes& storage;
  ElementWalk walk;

  void write(int64_t n, int64_t index, double value) const {
    if (!is_floating(tensor.dtype)) {
      const auto [low, high] = integer_range(tensor.dtype);
      // 2^63 is a double and no int64_t.
      const bool fits = value == std::trunc(value) && value >= static_cast<double>(low) &&
                        value <= static_cast<double>(high) && value < 0x1p63;
      if (!fits) value_does_not_fit(name, tensor.dtype, n, fmt::format("{}", value));
      write_integer(storage, tensor.dtype, index, static_cast<int64_t>(value));
    } else if (std::fabs(value) > kFitsEverywhere && std::isfinite(value) &&
               !std::isfinite(round_to(tensor.dtype, value))) {
      value_does_not_fit(name, tensor.dtype, n, fmt::format("{}", value));
    } else {
      write_element(storage, tensor.dtype, index, value);
    }
  }

  void write(const LiteralValues& values) const {
    const bool is_integer = !is_floating(tensor.dtype);
    const size_t count = is_integer ? values.ints.size() : values.floats.size();
    if (tensor.num_elements() != static_cast<int64_t>(count)) {
      throw std::logic_error("a loaded tensor has as many values as elements");
    }
    const auto [low, high] = integer_range(tensor.dtype);
    walk.for_each([&, low = low, high = high](int64_t n, int64_t index) {
      if (!is_integer) return write(n, index, values.floats[static_cast<size_t>(n)]);
      const int64_t value = values.ints[static_cast<size_t>(n)];
      if (value < low || value > high) {
        value_does_not_fit(name, tensor.dtype, n, std::to_string(value));
      }
      write_integer(storage, tensor.dtype, index, value);
    });
  }

  void write(const Fill& fill) const {
    walk.for_each([&](int64_t n, int64_t index) {
      const int64_t position = fill.in_storage_order ? index - tensor.offset : n;
      write(n, index, fill_element(fill, tensor.dtype, position));
    });
  }

  void write(const FileValues& values) const {
    const int64_t bytes = size_in_bytes(tensor.dtype);
    FileElements elements(values, bytes, name_of(name));
    walk.for_each([&](int64_t n, int64_t index) {
      std::memcpy(storage.begin() + index * bytes, elements.element(n), static_cast<size_t>(bytes));
    });
  }

  void write(const std::monostate&) const {}
};

uint64_t seed_of(uint64_t case_seed, TensorName name) {
  uint64_t seed = case_seed;
  for (const char letter : name_of(name)) {
    seed = random_bits(seed, static_cast<unsigned char>(letter));
  }
  return seed;
}

/// 2^(-8 (h+1) / num_heads), as the ALiBi paper (arXiv 2108.12409) has it for powers of two.
void write_default_slopes(const Writer& writer) {
  const double num_heads = static_cast<double>(writer.tensor.num_elements().value_or(1));
  writer.walk.for_each([&](int64_t n, int64_t index) {
    writer.write(n, index, std::exp2(-8.0 * static_cast<double>(n + 1) / num_heads));
  });
}

void write_values(const Case& c, TensorName name, const TensorSpec& tensor, StorageBytes& storage) {
  const int64_t elements = storage.size_bytes() / size_in_bytes(tensor.dtype);
  const Writer writer{name, tensor, storage, ElementWalk(tensor, elements)};
  const bool is_filled = has_values(tensor) || name == TensorName::kQ || name == TensorName::kK ||
                         name == TensorName::kV || name == TensorName::kAlibiSlopes;
  if (is_filled && writer.walk.num_steps() > kMaxElements) {
    throw InputError{make_finding(kTooManyElements, pointer_to(name) + "/shape",
                                  {{"tensor", std::string(name_of(name))},
                                   {"elements", std::to_string(writer.walk.num_steps())},
                                   {"limit", std::to_string(kMaxElements)}})};
  }
  if (has_values(tensor)) {
    std::visit([&](const auto& values) { writer.write(values); }, *tensor.values);
  } else if (name == TensorName::kAlibiSlopes) {
    write_default_slopes(writer);
  } else if (is_filled) {
    writer.write(Fill{.generator = Fill::Generator::kNormal, .seed = seed_of(c.seed, name)});
  }
}

}  // namespace

bool has_values(const TensorSpec& tensor) {
  return !std::holds_alternative<std::monostate>(*tensor.values);
}

Inputs make_inputs(const Case& c, bool with_data) {
  Inputs inputs{allocate(c, with_data)};
  for (int i = 0; i < kNumTensors; ++i) {
    const auto name = static_cast<TensorName>(i);
    const TensorSpec* tensor = c.find(name);
    if (!tensor || (!with_data && is_large(name))) continue;
    write_values(c, name, *tensor, inputs.storages[static_cast<size_t>(tensor->storage)]);
  }
  return inputs;
}

std::optional<int64_t> bytes_needed(const Case& c, int64_t longest_seqlen_k) {
  std::optional<int64_t> total = 0;
  const auto add = [&](std::optional<int64_t> count, int64_t bytes_each) {
    const std::optional<int64_t> bytes = count ? checked_mul(*count, bytes_each) : std::nullopt;
    total = total && bytes ? checked_add(*total, *bytes) : std::nullopt;
  };
  for (const std::optional<int64_t>& size : storage_sizes(c, true)) add(size, 1);
  const TensorSpec& q = c.q();
  const std::optional<int64_t> num_out = q.num_elements();
  add(num_out, size_in_bytes(q.dtype));
  add(num_out, kComparisonBytes);
  const int64_t head_dim = q.shape.empty() ? 1 : std::max<int64_t>(q.shape.back(), 1);
  add(checked_mul(longest_seqlen_k, head_dim), 2 * sizeof(double));
  add(num_out ? std::optional(*num_out / head_dim) : std::nullopt, sizeof(float));  // lse
  return total;
}

}  // namespace flashcheck
