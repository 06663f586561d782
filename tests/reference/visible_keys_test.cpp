#include "reference/visible_keys.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <limits>

#include "tests/reference/problems.h"

using namespace flashcheck;
using namespace flashcheck::testing;

TEST_CASE("the ranges hold exactly the keys that is_visible names") {
  for (uint64_t seed = 0; seed < 1000; ++seed) {
    CAPTURE(seed);
    const AttentionProblem problem = random_problem(seed).problem;
    bool equal = true;
    for (int64_t b = 0; b < problem.batch_size(); ++b) {
      const Sequence& s = problem.sequences[static_cast<size_t>(b)];
      for (int64_t i = 0; i < s.seqlen_q; ++i) {
        const std::vector<KeyRange> ranges = visible_keys(problem, b, i);
        std::vector<bool> seen(static_cast<size_t>(s.seqlen_k));
        int64_t end = -1;
        for (const KeyRange& range : ranges) {
          equal = equal && range.begin > end && range.begin < range.end && range.end <= s.seqlen_k;
          end = range.end;
          for (int64_t j = range.begin; j < range.end; ++j) seen[static_cast<size_t>(j)] = true;
        }
        for (int64_t j = 0; j < s.seqlen_k; ++j) {
          equal = equal && seen[static_cast<size_t>(j)] == problem.is_visible(b, i, j);
        }
        equal = equal && num_keys(ranges) == std::count(seen.begin(), seen.end(), true);
      }
    }
    CHECK(equal);
  }
}

TEST_CASE("a window of any width is no overflow") {
  AttentionProblem problem;
  problem.sequences = {{0, 3, 0, 7}};
  problem.window_size_left = std::numeric_limits<int64_t>::max();
  problem.window_size_right = std::numeric_limits<int64_t>::max();
  const std::vector<KeyRange> ranges = visible_keys(problem, 0, 2);
  REQUIRE(ranges.size() == 1);
  CHECK(ranges[0].begin == 0);
  CHECK(ranges[0].end == 7);
}
