#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "src/hazards/hazard_context.h"

namespace flashcheck {

/// Key j is visible from position p if p - left <= j <= p + right; nothing: no limit on that side.
struct WindowMask {
  std::optional<int64_t> left, right;
  bool is_limited() const { return left || right; }
};

/// The window that the caller asked for.
WindowMask declared_mask(const Case& c);
/// The window that the kernel applies, after what the wrapper filters and the kernel leaves out:
/// windows other than exact causal do not exist for head_dim over 256, nor in v3.
WindowMask kernel_mask(const HazardContext& context);
/// What candle's launchers call local: a window, and not the causal kernel.
bool is_local(const LaunchParams& launch);
/// A local launch whose kernel was built without windows (head_dim over 256, or v3): its attention
/// is full.
bool drops_window(const HazardContext& context);

/// Whether some query row of the sequence sees other keys under one mask than under the other, by
/// its left side alone, or by its right side alone.
bool left_differs(const WindowMask& a, const WindowMask& b, const LaunchedSequence& sequence);
bool right_differs(const WindowMask& a, const WindowMask& b, const LaunchedSequence& sequence);
bool hides_keys(const WindowMask& mask, const LaunchedSequence& sequence);

/// Keys [begin, end) of a sequence.
struct KeySpan {
  int64_t begin = 0, end = 0;
};
/// The keys that the kernel loads for a sequence, ascending and apart: whole key tiles for candle's
/// (kernels/flash_fwd_kernel.h:49-75, 111-119, 564-578), cut at the keys there are; single keys
/// that some row sees for no wrapper. Empty without query rows.
std::vector<KeySpan> loaded_keys(const HazardContext& context, int64_t sequence);
/// The keys that some query row sees.
std::vector<KeySpan> visible_keys(const HazardContext& context, int64_t sequence);

}  // namespace flashcheck
