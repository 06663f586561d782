#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace flashcheck {

/// Where a storage lives, as candle's DeviceLocation has it (candle-core/src/device.rs:7-12).
struct Device {
  enum class Kind : uint8_t { kCpu, kCuda, kMetal };
  Kind kind = Kind::kCuda;
  int64_t gpu_id = 0;  // 0 for the CPU

  bool operator==(const Device&) const = default;
  bool is_cuda() const { return kind == Kind::kCuda; }
};

/// "cpu", "cuda:1": as case files spell it.
std::string name_of(const Device& device);
/// "Cpu", "Cuda { gpu_id: 1 }": as Rust's derived Debug prints it.
std::string rust_name_of(const Device& device);
/// Nothing unless it is "cpu", "cuda:N" or "metal:N" with a plain decimal N of at most nine digits.
std::optional<Device> parse_device(std::string_view name);

}  // namespace flashcheck
