#include "src/hazards/kernel_mask.h"

#include <doctest/doctest.h>

#include "src/contract/contract.h"
#include "src/inputs/inputs.h"
#include "tests/hazards/random_call.h"

namespace flashcheck {
namespace {

bool is_visible(const WindowMask& mask, const LaunchedSequence& s, int64_t i, int64_t j) {
  const int64_t p = i + s.seqlen_k() - s.seqlen_q();
  return (!mask.left || j >= p - *mask.left) && (!mask.right || j <= p + *mask.right);
}

/// Row by row, key by key.
bool differ(const WindowMask& a, const WindowMask& b, const LaunchedSequence& s) {
  for (int64_t i = 0; i < s.seqlen_q(); ++i) {
    for (int64_t j = 0; j < s.seqlen_k(); ++j) {
      if (is_visible(a, s, i, j) != is_visible(b, s, i, j)) return true;
    }
  }
  return false;
}

std::optional<int64_t> side(int64_t n) { return n < 0 ? std::nullopt : std::optional(n); }

bool is_in(const std::vector<KeySpan>& spans, int64_t j) {
  for (const KeySpan& span : spans) {
    if (span.begin <= j && j < span.end) return true;
  }
  return false;
}

}  // namespace

TEST_CASE("two masks differ on a sequence exactly if some row sees another key") {
  for (int64_t rows = 0; rows <= 6; ++rows) {
    for (int64_t keys = 0; keys <= 6; ++keys) {
      const LaunchedSequence s{.q_end = rows, .k_end = keys};
      for (int64_t a = -1; a <= 7; ++a) {
        for (int64_t b = -1; b <= 7; ++b) {
          CAPTURE(rows);
          CAPTURE(keys);
          CAPTURE(a);
          CAPTURE(b);
          const WindowMask left_a{side(a), {}}, left_b{side(b), {}};
          CHECK(left_differs(left_a, left_b, s) == differ(left_a, left_b, s));
          const WindowMask right_a{{}, side(a)}, right_b{{}, side(b)};
          CHECK(right_differs(right_a, right_b, s) == differ(right_a, right_b, s));
          const WindowMask both{side(a), side(b)};
          CHECK(hides_keys(both, s) == differ(both, {}, s));
        }
      }
    }
  }
}

TEST_CASE("a kernel loads every key that a row sees, and visible keys are exactly those") {
  int num_windowed = 0, num_with_ranges = 0;
  for (uint64_t number = 0; number < 3000; ++number) {
    const Case c = random_call(number);
    const Outcome outcome = check_contract(c);
    if (!outcome.launch) continue;
    const Inputs inputs = make_inputs(c, false);
    const HazardContext context = make_hazard_context(c, *outcome.launch, inputs);
    const bool has_ranges = c.find(TensorName::kMmPrefixRanges) != nullptr;
    if (!context.sequences || (has_ranges && !context.mm_prefix_ranges)) continue;
    const WindowMask mask = kernel_mask(context);
    num_windowed += mask.left.has_value();
    num_with_ranges += has_ranges && mask.is_limited();
    for_each_sequence(context, [&](int64_t b, const LaunchedSequence& s) {
      if (s.seqlen_q() > 200 || s.seqlen_k() > 200) return;  // a spoiled table
      const std::vector<KeySpan> loaded = loaded_keys(context, b);
      const std::vector<KeySpan> visible = visible_keys(context, b);
      for (int64_t j = 0; j < context.reachable_keys(s); ++j) {
        bool is_seen = false;
        for (int64_t i = 0; i < s.seqlen_q(); ++i) {
          const int64_t p = i + s.seqlen_k() - s.seqlen_q();
          is_seen |= is_visible(mask, s, i, j);
          if (!has_ranges || !mask.is_limited()) continue;
          for (int64_t r = 0; r < outcome.launch->max_mm_prefix_ranges; ++r) {
            const size_t at =
                static_cast<size_t>((b * outcome.launch->max_mm_prefix_ranges + r) * 2);
            const int64_t begin = (*context.mm_prefix_ranges)[at];
            const int64_t end = (*context.mm_prefix_ranges)[at + 1];
            is_seen |= begin <= p && p < end && begin <= j && j < end;
          }
        }
        CAPTURE(number);
        CAPTURE(b);
        CAPTURE(j);
        REQUIRE(is_in(visible, j) == is_seen);
        if (is_seen) REQUIRE(is_in(loaded, j));
      }
      for (const KeySpan& span : loaded) REQUIRE(span.end <= context.reachable_keys(s));
    });
  }
  CHECK(num_windowed > 100);
  CHECK(num_with_ranges > 20);
}

}  // namespace flashcheck
