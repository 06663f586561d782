#pragma once

#include <span>
#include <vector>

#include "src/hazards/hazard_rule.h"

namespace flashcheck {

// One array a family, each in ascending order of code.
std::span<const HazardRule> unknown_value_hazards();  // FC-H001: what could not be looked at
std::span<const HazardRule> address_hazards();        // FC-H101: offsets, strides, extents, sizes
std::span<const HazardRule> layout_hazards();         // FC-H106: slopes, devices, order of axes
std::span<const HazardRule> shared_bytes_hazards();   // FC-H111: q, k and v in the same bytes
std::span<const HazardRule> sequence_hazards();       // FC-H201: the tables of lengths
std::span<const HazardRule> maximum_hazards();        // FC-H209: max_seqlen_q and max_seqlen_k
std::span<const HazardRule> window_hazards();         // FC-H215: masks, and rows without keys
std::span<const HazardRule> spare_room_hazards();     // FC-H221: keys that no sequence has
std::span<const HazardRule> paging_hazards();         // FC-H301: block table and pages
std::span<const HazardRule> plain_length_hazards();   // FC-H308: lengths that are no running sums
std::span<const HazardRule> prefix_range_hazards();   // FC-H309: mm_prefix_ranges
std::span<const HazardRule> head_dim_hazards();       // FC-H401: head_dim over 256
std::span<const HazardRule> scale_hazards();          // FC-H501: softmax_scale, softcap, slopes
std::span<const HazardRule> value_hazards();          // FC-H509: values of q, k and v
std::span<const HazardRule> launch_hazards();         // FC-H601: limits of the grid
std::span<const HazardRule> v3_hazards();             // FC-H701: candle-flash-attn-v3 alone
std::span<const HazardRule> declared_hazards();       // FC-H801: declared against passed
std::span<const HazardRule> engine_assumptions();     // FC-H901: what other engines take as given

/// All of them, ascending.
const std::vector<std::span<const HazardRule>>& hazard_families();

}  // namespace flashcheck
