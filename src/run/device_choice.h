#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "kernels/backend.h"
#include "reference/products.h"

namespace flashcheck {

/// Which kernel runs, and on which device of its kind.
struct DeviceChoice {
  const Backend* backend = &backends().front();
  int device = 0;

  bool operator==(const DeviceChoice&) const = default;
};

/// "cpu", "cuda:1": what parse_device_choice() takes.
std::string name_of(const DeviceChoice& choice);
/// Takes "cuda" for "cuda:0". Nothing if no backend is called so; whether it can run is not asked.
std::optional<DeviceChoice> parse_device_choice(std::string_view name);

/// Why the kernel or the reference cannot run there; empty if both can.
std::string why_unavailable(const DeviceChoice& choice);

/// The first one that is available and is not the CPU; the CPU if there is none.
DeviceChoice fastest_device();

/// What the reference multiplies with where the kernel runs there. Precondition: it is available.
const Products& products_of(const DeviceChoice& choice);

}  // namespace flashcheck
