#include "src/run/device_choice.h"

#include "src/spec/device.h"

namespace flashcheck {
namespace {

bool is_cpu(const Backend& backend) { return backend.name == "cpu"; }

}  // namespace

std::string name_of(const DeviceChoice& choice) {
  std::string name(choice.backend->name);
  return is_cpu(*choice.backend) ? name : name + ':' + std::to_string(choice.device);
}

std::optional<DeviceChoice> parse_device_choice(std::string_view name) {
  const Backend* whole = find_backend(name);
  const std::optional<Device> device =
      parse_device(whole && !is_cpu(*whole) ? std::string(name) + ":0" : std::string(name));
  if (!device) return std::nullopt;
  const Backend* backend = find_backend(name.substr(0, name.find(':')));
  if (!backend) return std::nullopt;
  return DeviceChoice{backend, static_cast<int>(device->gpu_id)};
}

std::string why_unavailable(const DeviceChoice& choice) {
  std::string reason = choice.backend->unavailable(choice.device);
  return reason.empty() ? products_unavailable(choice.backend->name, choice.device) : reason;
}

DeviceChoice fastest_device() {
  for (const Backend& backend : backends()) {
    const int count = static_cast<int>(backend.devices().size());
    for (int device = 0; device < count; ++device) {
      const DeviceChoice choice{&backend, device};
      if (why_unavailable(choice).empty()) return choice;
    }
  }
  return {};
}

const Products& products_of(const DeviceChoice& choice) {
  return products_of(choice.backend->name, choice.device);
}

}  // namespace flashcheck
