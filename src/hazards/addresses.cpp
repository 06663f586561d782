#include "src/hazards/addresses.h"

#include <fmt/format.h>

#include "src/spec/checked.h"

namespace flashcheck {

Address address_of(int64_t offset, std::initializer_list<AddressTerm> terms) {
  Address address{.element = offset};
  if (offset != 0) address.sum = fmt::format("offset {}", offset);
  for (const AddressTerm& term : terms) {
    const std::optional<int64_t> product = checked_mul(term.index, term.stride);
    address.element =
        address.element && product ? checked_add(*address.element, *product) : std::nullopt;
    if (!address.sum.empty()) address.sum += " + ";
    address.sum += fmt::format("{} {} * {}", term.what, term.index, term.stride);
  }
  return address;
}

std::string against_storage(const Address& address, int64_t storage_elements) {
  if (!address.element) return address.sum + " is more than 2^63";
  const std::string place = fmt::format("{} = element {}", address.sum, *address.element);
  if (*address.element < 0) return place + ", before its storage";
  if (*address.element >= storage_elements) {
    return fmt::format("{}, past its storage of {}", place, storage_elements);
  }
  return fmt::format("{}, inside its storage of {} but outside the view", place, storage_elements);
}

}  // namespace flashcheck
