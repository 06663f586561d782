#pragma once

#include <vector>

#include "reference/dense_products.h"
#include "reference/visible_keys.h"

namespace flashcheck {

/// Turns line n of a block of logits into softmax weights; keys that are not visible get exactly 0,
/// whatever their logits. Returns the log of the sum of exponentials, +inf if no key is visible.
double softmax(const std::vector<KeyRange>& visible, KeyBlock& block, int64_t n);

}  // namespace flashcheck
