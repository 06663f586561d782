#include "src/hazards/kernel_mask.h"

#include <algorithm>
#include <limits>

#include "src/hazards/tile_sizes.h"

namespace flashcheck {
namespace {

// Wider than any sequence, and far from overflow in a sum.
constexpr int64_t kUnlimited = std::numeric_limits<int64_t>::max() / 4;

int64_t width(std::optional<int64_t> side) {
  return std::min(side.value_or(kUnlimited), kUnlimited);
}

/// The ranges of a sequence that the kernel looks at; none where it looks at none.
std::vector<KeySpan> active_ranges(const HazardContext& context, int64_t sequence) {
  std::vector<KeySpan> ranges;
  if (!context.mm_prefix_ranges || !kernel_mask(context).is_limited()) return ranges;
  const int64_t count = context.launch.max_mm_prefix_ranges;
  for (int64_t r = 0; r < count; ++r) {
    const size_t at = static_cast<size_t>((sequence * count + r) * 2);
    const KeySpan range{(*context.mm_prefix_ranges)[at], (*context.mm_prefix_ranges)[at + 1]};
    if (range.begin < range.end) ranges.push_back(range);
  }
  return ranges;
}

std::vector<KeySpan> joined(std::vector<KeySpan> spans) {
  std::erase_if(spans, [](const KeySpan& span) { return span.begin >= span.end; });
  std::sort(spans.begin(), spans.end(),
            [](const KeySpan& a, const KeySpan& b) { return a.begin < b.begin; });
  std::vector<KeySpan> apart;
  for (const KeySpan& span : spans) {
    if (apart.empty() || span.begin > apart.back().end) {
      apart.push_back(span);
    } else {
      apart.back().end = std::max(apart.back().end, span.end);
    }
  }
  return apart;
}

/// What the query rows at positions [first, last] make the kernel load, by tiles of `tile` keys.
KeySpan tile_span(const WindowMask& mask, const std::vector<KeySpan>& ranges, int64_t num_keys,
                  int64_t first, int64_t last, int64_t tile) {
  KeySpan span{0, num_keys};
  if (mask.is_limited()) {
    span.begin = std::max<int64_t>(0, first - width(mask.left)) / tile * tile;
    span.end =
        std::min(num_keys, round_up(std::max<int64_t>(0, last + 1 + width(mask.right)), tile));
  }
  for (const KeySpan& range : ranges) {
    if (range.begin > last || range.end <= first) continue;
    span.begin = std::min(span.begin, std::max<int64_t>(0, range.begin) / tile * tile);
    span.end = std::max(span.end, std::min(num_keys, round_up(range.end, tile)));
  }
  return span;
}

}  // namespace

WindowMask declared_mask(const Case& c) {
  if (!c.function->windowed)
    return {std::nullopt, c.args.causal ? std::optional<int64_t>(0) : std::nullopt};
  return {c.args.window_size_left, c.args.window_size_right};
}

bool is_local(const LaunchParams& launch) {
  return !launch.is_causal && (launch.window_size_left >= 0 || launch.window_size_right >= 0);
}

bool drops_window(const HazardContext& context) {
  const bool has_windows =
      context.launch.wrapper == Wrapper::kNone || (!context.is_v3 && context.launch.d <= 256);
  return !has_windows && is_local(context.launch);
}

WindowMask kernel_mask(const HazardContext& context) {
  const LaunchParams& launch = context.launch;
  if (launch.is_causal) return {std::nullopt, 0};
  if (drops_window(context)) return {};
  const auto side = [](int32_t window) {
    return window < 0 ? std::nullopt : std::optional<int64_t>(window);
  };
  return {side(launch.window_size_left), side(launch.window_size_right)};
}

bool left_differs(const WindowMask& a, const WindowMask& b, const LaunchedSequence& sequence) {
  if (sequence.seqlen_q() <= 0 || sequence.seqlen_k() <= 0 || width(a.left) == width(b.left)) {
    return false;
  }
  // The last row is the first to lose a key on the left.
  return sequence.seqlen_k() - 1 > std::min(width(a.left), width(b.left));
}

bool right_differs(const WindowMask& a, const WindowMask& b, const LaunchedSequence& sequence) {
  if (sequence.seqlen_q() <= 0 || sequence.seqlen_k() <= 0 || width(a.right) == width(b.right)) {
    return false;
  }
  // A row at position p loses keys to the narrower side if p + narrow < seqlen_k - 1, and has some
  // to lose if p + wide >= 0.
  const int64_t narrow = std::min(width(a.right), width(b.right));
  const int64_t wide = std::max(width(a.right), width(b.right));
  const int64_t first = std::max(sequence.seqlen_k() - sequence.seqlen_q(), -wide);
  const int64_t last = std::min(sequence.seqlen_k() - 1, sequence.seqlen_k() - 2 - narrow);
  return first <= last;
}

bool hides_keys(const WindowMask& mask, const LaunchedSequence& sequence) {
  return left_differs(mask, {}, sequence) || right_differs(mask, {}, sequence);
}

std::vector<KeySpan> loaded_keys(const HazardContext& context, int64_t sequence) {
  if (context.launch.wrapper == Wrapper::kNone) return visible_keys(context, sequence);
  const LaunchedSequence& s = (*context.sequences)[static_cast<size_t>(sequence)];
  const int64_t num_keys = context.reachable_keys(s);
  if (s.seqlen_q() <= 0 || num_keys <= 0) return {};
  const WindowMask mask = kernel_mask(context);
  const TileSizes tile = tile_sizes(*context.c.function, context.launch);
  const std::vector<KeySpan> ranges = active_ranges(context, sequence);
  const int64_t shift = s.seqlen_k() - s.seqlen_q();
  if (ranges.empty()) {
    // Neighbouring query tiles load neighbouring keys: the first and the last tell.
    const int64_t last_tile = (s.seqlen_q() - 1) / tile.min_query_rows * tile.min_query_rows;
    const int64_t last = last_tile + tile.min_query_rows - 1 + shift;
    return joined({tile_span(mask, ranges, num_keys, shift, last, tile.key_rows)});
  }
  // Query tiles before the first key and before every range load nothing: skip them at once.
  int64_t first = -width(mask.right);
  for (const KeySpan& range : ranges) first = std::min(first, range.begin);
  const int64_t skipped = std::max<int64_t>(0, first - shift) / tile.min_query_rows;
  std::vector<KeySpan> spans;
  for (int64_t i = skipped * tile.min_query_rows; i < s.seqlen_q(); i += tile.min_query_rows) {
    spans.push_back(tile_span(mask, ranges, num_keys, i + shift,
                              i + shift + tile.min_query_rows - 1, tile.key_rows));
  }
  return joined(std::move(spans));
}

std::vector<KeySpan> visible_keys(const HazardContext& context, int64_t sequence) {
  const LaunchedSequence& s = (*context.sequences)[static_cast<size_t>(sequence)];
  const int64_t num_keys = context.reachable_keys(s);
  if (s.seqlen_q() <= 0 || num_keys <= 0) return {};
  const int64_t first = s.seqlen_k() - s.seqlen_q();
  const int64_t last = s.seqlen_k() - 1;
  std::vector<KeySpan> spans{tile_span(kernel_mask(context), {}, num_keys, first, last, 1)};
  for (const KeySpan& range : active_ranges(context, sequence)) {
    if (range.begin > last || range.end <= first) continue;
    spans.push_back({std::max<int64_t>(0, range.begin), std::min(num_keys, range.end)});
  }
  return joined(std::move(spans));
}

}  // namespace flashcheck
