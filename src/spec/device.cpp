#include "src/spec/device.h"

#include <charconv>

namespace flashcheck {

std::string name_of(const Device& device) {
  if (device.kind == Device::Kind::kCpu) return "cpu";
  return (device.is_cuda() ? "cuda:" : "metal:") + std::to_string(device.gpu_id);
}

std::string rust_name_of(const Device& device) {
  if (device.kind == Device::Kind::kCpu) return "Cpu";
  return std::string(device.is_cuda() ? "Cuda" : "Metal") +
         " { gpu_id: " + std::to_string(device.gpu_id) + " }";
}

std::optional<Device> parse_device(std::string_view name) {
  if (name == "cpu") return Device{.kind = Device::Kind::kCpu};
  const size_t colon = name.find(':');
  if (colon == std::string_view::npos) return std::nullopt;
  Device device;
  if (name.substr(0, colon) == "metal") {
    device.kind = Device::Kind::kMetal;
  } else if (name.substr(0, colon) != "cuda") {
    return std::nullopt;
  }
  const std::string_view digits = name.substr(colon + 1);
  if (digits.empty() || digits.size() > 9 || digits.front() == '-') return std::nullopt;
  const auto [end, error] =
      std::from_chars(digits.data(), digits.data() + digits.size(), device.gpu_id);
  if (error != std::errc{} || end != digits.data() + digits.size()) return std::nullopt;
  return device;
}

}  // namespace flashcheck
