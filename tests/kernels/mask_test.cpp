#include "kernels/mask.h"

#include <doctest/doctest.h>

#include <random>
#include <vector>

using namespace flashcheck;

TEST_CASE("both ends of a window are visible") {
  const Mask mask{.num_keys = 10, .left = 2, .right = 1};
  std::vector<int64_t> seen;
  for (int64_t j = -1; j < 12; ++j) {
    if (mask.is_visible(5, j)) seen.push_back(j);
  }
  CHECK(seen == std::vector<int64_t>{3, 4, 5, 6});
}

TEST_CASE("a negative side has no limit, but the keys end") {
  CHECK(Mask{.num_keys = 3}.is_visible(-100, 2));
  CHECK_FALSE(Mask{.num_keys = 3}.is_visible(0, 3));
  CHECK_FALSE(Mask{.num_keys = 3}.is_visible(0, -1));
  CHECK(Mask{.num_keys = 9, .right = 0}.is_visible(5, 0));
  CHECK_FALSE(Mask{.num_keys = 9, .right = 0}.is_visible(5, 6));
  CHECK(Mask{.num_keys = 9, .left = 0}.is_visible(5, 8));
  CHECK_FALSE(Mask{.num_keys = 9, .left = 0}.is_visible(5, 4));
}

TEST_CASE("a range shows pairs that both lie in it, and an empty one none") {
  const std::vector<int32_t> ranges = {2, 6, 4, 4, 8, 7};
  const Mask mask{.num_keys = 5, .left = 0, .right = 0, .ranges = ranges.data(), .num_ranges = 3};
  CHECK(mask.is_visible(2, 4));
  CHECK(mask.is_visible(5, 2));
  CHECK_FALSE(mask.is_visible(6, 2));  // the end is not in it
  CHECK_FALSE(mask.is_visible(1, 2));
  CHECK_FALSE(mask.is_visible(2, 5));  // no such key
  CHECK(mask.visited_keys(3, 3).begin == 2);
  CHECK(mask.visited_keys(3, 3).end == 5);
}

TEST_CASE("what is said of a tile is what its rows say") {
  std::mt19937 rng(11);
  const auto below = [&rng](int n) { return std::uniform_int_distribution<int>(0, n - 1)(rng); };
  for (int n = 0; n < 3000; ++n) {
    Mask mask{.num_keys = below(20), .left = below(8) - 2, .right = below(8) - 2};
    std::vector<int32_t> ranges;
    if (mask.is_limited()) {
      mask.num_ranges = below(3);
      for (int64_t r = 0; r < 2 * mask.num_ranges; ++r) ranges.push_back(below(25) - 3);
      mask.ranges = ranges.data();
    }
    const int64_t p_first = below(30) - 6, p_last = p_first + below(5);
    const KeyRange visited = mask.visited_keys(p_first, p_last);
    for (int64_t j = -2; j < 25; ++j) {
      bool any = false, every = true;
      for (int64_t p = p_first; p <= p_last; ++p) {
        any |= mask.is_visible(p, j);
        every &= mask.is_visible(p, j);
      }
      CAPTURE(n);
      CAPTURE(j);
      REQUIRE((visited.begin <= j && j < visited.end) == any);
      for (int64_t end = j + 1; j >= 0 && end < j + 4; ++end) {
        if (!mask.windows_show(p_first, p_last, j, end)) continue;
        REQUIRE(every);
        REQUIRE(mask.is_visible(p_first, end - 1));
        REQUIRE(mask.is_visible(p_last, end - 1));
      }
    }
  }
}
