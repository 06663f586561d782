#include "src/spec/tensor.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <new>
#include <stdexcept>

#include "src/spec/checked.h"

namespace flashcheck {
namespace {

constexpr std::align_val_t kAlignment{64};

template <typename T>
T load(const StorageBytes& storage, int64_t index) {
  T value;
  std::memcpy(&value, storage.begin() + index * static_cast<int64_t>(sizeof(T)), sizeof(T));
  return value;
}

template <typename T>
void store(StorageBytes& storage, int64_t index, T value) {
  std::memcpy(storage.begin() + index * static_cast<int64_t>(sizeof(T)), &value, sizeof(T));
}

/// A binary format of sign, `exponent_bits` and `fraction_bits`. f8e4m3 has no infinity and one
/// NaN.
struct Format {
  int exponent_bits, fraction_bits;
  bool has_infinity;
  int bias() const { return (1 << (exponent_bits - 1)) - 1; }
};
constexpr Format kBF16{8, 7, true};
constexpr Format kF16{5, 10, true};
constexpr Format kF8E4M3{4, 3, false};

/// 2^exponent, without a call: there are as many conversions as elements. Precondition: -1022 <=
/// exponent <= 1023.
double power_of_two(int exponent) {
  return std::bit_cast<double>(static_cast<uint64_t>(exponent + 1023) << 52);
}

double decode(const Format& f, uint32_t bits) {
  const uint32_t fraction = bits & ((1u << f.fraction_bits) - 1);
  const uint32_t exponent = (bits >> f.fraction_bits) & ((1u << f.exponent_bits) - 1);
  const bool negative = (bits >> (f.exponent_bits + f.fraction_bits)) & 1;
  const uint32_t top = (1u << f.exponent_bits) - 1;
  double value = 0;
  if (exponent == top && f.has_infinity) {
    value = fraction ? std::numeric_limits<double>::quiet_NaN()
                     : std::numeric_limits<double>::infinity();
  } else if (exponent == top && fraction == (1u << f.fraction_bits) - 1) {
    value = std::numeric_limits<double>::quiet_NaN();
  } else if (exponent == 0) {
    value = fraction * power_of_two(1 - f.bias() - f.fraction_bits);
  } else {
    value = (fraction + (1u << f.fraction_bits)) *
            power_of_two(static_cast<int>(exponent) - f.bias() - f.fraction_bits);
  }
  return negative ? -value : value;
}

uint32_t encode(const Format& f, double value) {
  const uint32_t sign = std::signbit(value) ? 1u << (f.exponent_bits + f.fraction_bits) : 0;
  const uint32_t top = (1u << f.exponent_bits) - 1;
  const uint32_t all_fraction = (1u << f.fraction_bits) - 1;
  const uint32_t nan =
      (top << f.fraction_bits) | (f.has_infinity ? 1u << (f.fraction_bits - 1) : all_fraction);
  const uint32_t overflow = f.has_infinity ? top << f.fraction_bits : nan;
  if (std::isnan(value)) return sign | nan;
  const double magnitude = std::fabs(value);
  if (std::isinf(magnitude)) return sign | overflow;
  const int stored = static_cast<int>(std::bit_cast<uint64_t>(magnitude) >> 52);
  const int exponent = std::max(stored - 1023, 1 - f.bias());
  // Units of the last place: an integer below 2^(fraction_bits + 2), rounded to nearest-even by the
  // default rounding mode, because beside 2^52 a double has no fraction bits left. A carry out of
  // the fraction moves into the exponent by itself.
  const double units = (magnitude * power_of_two(f.fraction_bits - exponent) + 0x1p52) - 0x1p52;
  const uint64_t biased = static_cast<uint64_t>(exponent + f.bias() - 1);
  const uint64_t bits = (biased << f.fraction_bits) + static_cast<uint64_t>(units);
  return sign | (bits >= overflow ? overflow : static_cast<uint32_t>(bits));
}

[[noreturn]] void not_integer() { throw std::logic_error("read_integer of a floating dtype"); }

}  // namespace

void StorageBytes::Free::operator()(std::byte* bytes) const {
  ::operator delete[](bytes, kAlignment);
}

StorageBytes::StorageBytes(int64_t size_bytes)
    : bytes_(
          static_cast<std::byte*>(::operator new[](static_cast<size_t>(size_bytes), kAlignment))),
      size_bytes_(size_bytes) {
  std::memset(bytes_.get(), 0xFF, static_cast<size_t>(size_bytes));
}

double read_element(const StorageBytes& storage, Dtype dtype, int64_t index) {
  switch (dtype) {
    case Dtype::kBF16:
      return decode(kBF16, load<uint16_t>(storage, index));
    case Dtype::kF16:
      return decode(kF16, load<uint16_t>(storage, index));
    case Dtype::kF8E4M3:
      return decode(kF8E4M3, load<uint8_t>(storage, index));
    case Dtype::kF32:
      return static_cast<double>(load<float>(storage, index));
    case Dtype::kF64:
      return load<double>(storage, index);
    default:
      return static_cast<double>(read_integer(storage, dtype, index));
  }
}

int64_t read_integer(const StorageBytes& storage, Dtype dtype, int64_t index) {
  switch (dtype) {
    case Dtype::kU8:
      return load<uint8_t>(storage, index);
    case Dtype::kU32:
      return load<uint32_t>(storage, index);
    case Dtype::kI16:
      return load<int16_t>(storage, index);
    case Dtype::kI32:
      return load<int32_t>(storage, index);
    case Dtype::kI64:
      return load<int64_t>(storage, index);
    default:
      not_integer();
  }
}

void write_element(StorageBytes& storage, Dtype dtype, int64_t index, double value) {
  switch (dtype) {
    case Dtype::kU8:
      return store(storage, index, static_cast<uint8_t>(value));
    case Dtype::kU32:
      return store(storage, index, static_cast<uint32_t>(value));
    case Dtype::kI16:
      return store(storage, index, static_cast<int16_t>(value));
    case Dtype::kI32:
      return store(storage, index, static_cast<int32_t>(value));
    case Dtype::kI64:
      return store(storage, index, static_cast<int64_t>(value));
    case Dtype::kBF16:
      return store(storage, index, static_cast<uint16_t>(encode(kBF16, value)));
    case Dtype::kF16:
      return store(storage, index, static_cast<uint16_t>(encode(kF16, value)));
    case Dtype::kF8E4M3:
      return store(storage, index, static_cast<uint8_t>(encode(kF8E4M3, value)));
    case Dtype::kF32:
      return store(storage, index, static_cast<float>(value));
    case Dtype::kF64:
      return store(storage, index, value);
  }
}

std::optional<std::vector<int64_t>> known_integers(const Case& c, TensorName name,
                                                   const Inputs& inputs) {
  constexpr int64_t kMaxEntries = int64_t{1} << 24;
  const TensorSpec* tensor = c.find(name);
  if (!tensor || is_floating(tensor->dtype)) return std::nullopt;
  if (std::holds_alternative<std::monostate>(*tensor->values)) return std::nullopt;
  if (*tensor->num_elements() > kMaxEntries) return std::nullopt;
  const StorageBytes& storage = inputs.storages[static_cast<size_t>(tensor->storage)];
  const std::optional<int64_t> end = checked_add(tensor->offset, *tensor->span());
  if (!end || *end > storage.size_bytes() / size_in_bytes(tensor->dtype)) return std::nullopt;
  std::vector<int64_t> values;
  for_each_element(*tensor,
                   [&](int64_t at) { values.push_back(read_integer(storage, tensor->dtype, at)); });
  return values;
}

double round_to(Dtype dtype, double value) {
  switch (dtype) {
    case Dtype::kBF16:
      return decode(kBF16, encode(kBF16, value));
    case Dtype::kF16:
      return decode(kF16, encode(kF16, value));
    case Dtype::kF8E4M3:
      return decode(kF8E4M3, encode(kF8E4M3, value));
    case Dtype::kF32:
      return static_cast<double>(static_cast<float>(value));
    default:
      return value;
  }
}

}  // namespace flashcheck
