#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/attention_params.h"

namespace flashcheck {

/// Memory of the host that pointers of a launch point into: one whole allocation. A tensor without
/// elements may point to its end.
struct HostRegion {
  std::byte* begin = nullptr;
  int64_t size_bytes = 0;
  bool is_written = false;  // by the kernel: out and lse
};

/// What a run may use. Owns nothing.
struct Execution {
  int num_threads = 1;                  // of the CPU, >= 1; the bytes written do not depend on it
  int device = 0;                       // which one, where a backend has several
  std::span<const HostRegion> regions;  // hold all that the launch points to; disjoint
};

/// A kernel that can run here or say why not.
struct Backend {
  std::string_view name;         // "cpu", "cuda"
  std::string_view description;  // one line for people
  /// What each device of its kind that this machine has is, in order; empty where there is nothing
  /// to choose from.
  std::vector<std::string> (*devices)();
  /// Why it cannot run on this machine (on this device of it); empty if it can.
  std::string (*unavailable)(int device);
  /// Why it cannot run this launch, though it can run others; empty if it can.
  std::string (*refusal)(const AttentionParams& params);
  /// Writes params.out and params.lse (every row that a sequence covers). Several threads may call
  /// it at once. Throws std::runtime_error if a device call fails, std::bad_alloc if memory is
  /// short.
  void (*run)(const AttentionParams& params, const Execution& execution);
};

/// Every backend there is, the default one first; those this build or this machine lacks too, so
/// that they can say why.
std::span<const Backend> backends();
/// Null if there is none of that name.
const Backend* find_backend(std::string_view name);

}  // namespace flashcheck
