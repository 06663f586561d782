#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <vector>

#include "src/spec/case.h"

namespace flashcheck {

/// The bytes of one storage. 64-byte aligned; exactly as long as the case says, so that a sanitizer
/// sees the first byte outside.
class StorageBytes {
 public:
  explicit StorageBytes(int64_t size_bytes);
  std::byte* begin() { return bytes_.get(); }
  const std::byte* begin() const { return bytes_.get(); }
  int64_t size_bytes() const { return size_bytes_; }

 private:
  struct Free {
    void operator()(std::byte* bytes) const;
  };
  std::unique_ptr<std::byte[], Free> bytes_;
  int64_t size_bytes_;
};

/// The storages of a case with their elements, in the order of Case::storages. Elements that no
/// tensor covers hold a NaN pattern (0xFF bytes), so that a stray read shows.
struct Inputs {
  std::vector<StorageBytes> storages;
};

/// Element at `index` (elements from the storage's start), exactly.
double read_element(const StorageBytes& storage, Dtype dtype, int64_t index);
/// Rounds to nearest, ties to even; integers must be in range.
void write_element(StorageBytes& storage, Dtype dtype, int64_t index, double value);
/// Integers without a detour through double.
int64_t read_integer(const StorageBytes& storage, Dtype dtype, int64_t index);

/// The values of a table or of lengths, in logical order. Nothing if the case has no such tensor or
/// no values for it, if it is not of integers, if its view leaves the storage's bytes (a storage
/// too large for a static rule is not made), or if it has over 2^24 entries: an expanded view costs
/// no storage.
std::optional<std::vector<int64_t>> known_integers(const Case& c, TensorName name,
                                                   const Inputs& inputs);

/// `value` rounded to nearest-even in a floating dtype, back as a double.
double round_to(Dtype dtype, double value);

}  // namespace flashcheck
