#pragma once

#include <optional>

#include "src/compare/comparison.h"

namespace flashcheck {

/// Of an output that does not fit the declared arithmetic: the first looser one that explains every
/// element, and would not explain an output of zeros as well.
std::optional<Arithmetic> fitting_arithmetic(const AttentionProblem& problem, const Output& actual,
                                             const Reference& expected);

}  // namespace flashcheck
