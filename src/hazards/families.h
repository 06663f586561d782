#pragma once

#include <span>

#include "src/hazards/hazard_rule.h"

namespace flashcheck {

// One array a family, each in ascending order of code.
std::span<const HazardRule> address_hazards();   // FC-H1nn: offsets, strides, extents
std::span<const HazardRule> sequence_hazards();  // FC-H2nn: lengths and maximum lengths
std::span<const HazardRule> paging_hazards();    // FC-H3nn: block table, pages, ranges

}  // namespace flashcheck
