#pragma once

#include <span>
#include <string_view>

#include "kernels/attention_params.h"

namespace flashcheck {

/// A kernel that can run here or say why not.
struct Backend {
  std::string_view name;         // "cpu"
  std::string_view description;  // one line for people
  /// Why it cannot run on this machine; empty if it can.
  std::string_view (*unavailable)();
  /// Writes params.out and params.lse (every row that a sequence covers). `num_threads` >= 1; the
  /// bytes written do not depend on it. Throws std::runtime_error if a device call fails.
  void (*run)(const AttentionParams& params, int num_threads);
};

/// In order of preference: the first available one is the default.
std::span<const Backend> backends();
/// Null if there is none of that name.
const Backend* find_backend(std::string_view name);

}  // namespace flashcheck
