#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>

namespace flashcheck {

/// One product of an address: "page 12 * 8192".
struct AddressTerm {
  std::string_view what;
  int64_t index = 0;
  int64_t stride = 0;  // elements
};

/// An element of a storage, and the sum that leads to it.
struct Address {
  std::optional<int64_t> element;  // nothing: does not fit an int64
  std::string sum;                 // "offset 4096 + page 12 * 8192": a zero offset is left out

  bool is_inside(int64_t storage_elements) const {
    return element && *element >= 0 && *element < storage_elements;
  }
};

/// offset + the sum of index * stride, in checked 64-bit arithmetic.
Address address_of(int64_t offset, std::initializer_list<AddressTerm> terms);

/// "page 12 * 8192 = element 98304, past its storage of 40960", or "…, inside its storage of 131072
/// but outside the view", or "…, before its storage".
std::string against_storage(const Address& address, int64_t storage_elements);

}  // namespace flashcheck
