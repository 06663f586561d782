#pragma once

#include <span>
#include <vector>

#include "src/spec/case.h"
#include "src/spec/finding.h"
#include "src/spec/launch_params.h"
#include "src/spec/tensor.h"

namespace flashcheck {

/// What goes wrong although the wrapper accepted the call. In order of code.
struct Hazards {
  std::vector<Finding> findings;
  /// Some access leaves its allocation, or could and cannot be checked: the call is not executed.
  bool is_memory_safe = true;
};

/// `small` holds the values of lengths, tables and slopes (make_inputs without data).
Hazards find_hazards(const Case& c, const LaunchParams& launch, const Inputs& small);

/// Where declared `axes` contradict the function: known of a refused call too, and often its cause.
std::vector<Finding> find_contradicted_axes(const Case& c);

/// Every FC-Hnnn rule, ascending.
std::span<const Rule* const> hazard_rules();

}  // namespace flashcheck
