#pragma once

#include <cstdint>

#include "src/spec/case.h"
#include "src/spec/launch_params.h"

namespace flashcheck {

/// The tile that candle's kernel takes for a launch. Where that depends on the device, both ends
/// (candle-flash-attn/kernels/flash_fwd_launch_template.h:174-418, static_switch.h:90-120;
/// candle-flash-attn-v3/hkernel/static_switch.h:122-145, flash_fwd_launch_template.h:217-309).
struct TileSizes {
  int64_t min_query_rows = 64, max_query_rows = 64;
  int64_t key_rows = 32;  // the larger where two are possible; both divide it
};
TileSizes tile_sizes(const WrapperFunction& function, const LaunchParams& launch);

/// Preconditions: b > 0, and a >= 0 or the quotient rounds toward zero, as on the device.
constexpr int64_t ceil_div(int64_t a, int64_t b) { return (a + b - 1) / b; }
constexpr int64_t round_up(int64_t a, int64_t b) { return ceil_div(a, b) * b; }

}  // namespace flashcheck
