#include "src/spec/byte_runs.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <iterator>
#include <limits>
#include <random>

#include "tests/map/bytes_of.h"

namespace flashcheck {
namespace {

int64_t below(std::mt19937& random, int64_t bound) {
  return static_cast<int64_t>(random() % static_cast<uint64_t>(bound));
}

std::vector<ByteLoop> random_loops(std::mt19937& random) {
  std::vector<ByteLoop> loops;
  for (int64_t dims = below(random, 4); dims > 0; --dims) {
    loops.push_back({1 + below(random, 5), below(random, 40)});
  }
  return loops;
}

/// Every byte, one loop inside the other.
std::set<int64_t> walked(int64_t begin, int64_t run, const std::vector<ByteLoop>& loops,
                         size_t at = 0) {
  std::set<int64_t> bytes;
  if (at == loops.size()) {
    for (int64_t byte = 0; byte < run; ++byte) bytes.insert(begin + byte);
    return bytes;
  }
  for (int64_t n = 0; n < loops[at].count; ++n) {
    bytes.merge(walked(begin + n * loops[at].stride_bytes, run, loops, at + 1));
  }
  return bytes;
}

}  // namespace

TEST_CASE("bytes that touch are one run, and loops that continue each other one loop") {
  // Rows of two heads of 64 f16: packed, with a gap, and head-major.
  CHECK(byte_runs(4096, 2, {{32, 256}, {2, 128}, {64, 2}}) == ByteRuns{4096, 8192, {}});
  CHECK(byte_runs(0, 2, {{32, 512}, {2, 256}, {64, 2}}) == ByteRuns{0, 128, {{64, 256}}});
  CHECK(byte_runs(0, 2, {{8, 128}, {2, 4096}, {64, 2}}) == ByteRuns{0, 1024, {{2, 4096}}});
  CHECK(byte_runs(0, 2, {{3, 1000}, {2, 300}, {4, 2}}) == ByteRuns{0, 8, {{3, 1000}, {2, 300}}});
  CHECK(byte_runs(8, 2, {{3, 0}, {4, 2}}) == ByteRuns{8, 8, {}});
  CHECK(byte_runs(8, 2, {{0, 16}, {4, 2}})->run_bytes == 0);
}

TEST_CASE("what does not fit an int64 has no bytes") {
  constexpr int64_t kMost = std::numeric_limits<int64_t>::max();
  CHECK_FALSE(byte_runs(kMost, 2, {}).has_value());
  CHECK_FALSE(byte_runs(0, 2, {{3, kMost / 2 + 1}}).has_value());
  CHECK(byte_runs(0, 1, {{2, kMost - 1}})->end_bytes() == kMost);
}

TEST_CASE("runs are exactly the bytes that their loops walk") {
  std::mt19937 random(1);
  for (int trial = 0; trial < 3000; ++trial) {
    const int64_t begin = below(random, 50), element = 1 + below(random, 4);
    const std::vector<ByteLoop> loops = random_loops(random);
    const std::optional<ByteRuns> runs = byte_runs(begin, element, loops);
    REQUIRE(runs.has_value());
    const std::set<int64_t> expected = walked(begin, element, loops);
    REQUIRE(bytes_of(*runs) == expected);
    REQUIRE(runs->end_bytes() == *expected.rbegin() + 1);
  }
}

TEST_CASE("two views share bytes exactly if some byte belongs to both") {
  std::mt19937 random(2);
  int64_t count[4] = {};
  for (int trial = 0; trial < 5000; ++trial) {
    const ByteRuns a = *byte_runs(below(random, 120), 1 + below(random, 4), random_loops(random));
    const ByteRuns b = *byte_runs(below(random, 120), 1 + below(random, 4), random_loops(random));
    const std::set<int64_t> of_a = bytes_of(a), of_b = bytes_of(b);
    std::vector<int64_t> both;
    std::set_intersection(of_a.begin(), of_a.end(), of_b.begin(), of_b.end(),
                          std::back_inserter(both));
    const bool is_apart = *of_a.rbegin() < *of_b.begin() || *of_b.rbegin() < *of_a.begin();
    const Sharing expected = !both.empty() ? Sharing::kShared
                             : is_apart    ? Sharing::kApart
                                           : Sharing::kInterleaved;
    REQUIRE(sharing_of(a, b) == expected);
    REQUIRE(sharing_of(b, a) == expected);
    ++count[static_cast<int>(expected)];
  }
  CHECK(count[static_cast<int>(Sharing::kApart)] > 500);
  CHECK(count[static_cast<int>(Sharing::kInterleaved)] > 300);
  CHECK(count[static_cast<int>(Sharing::kShared)] > 500);
}

TEST_CASE("large interleaved pools are settled without walking them") {
  // 2^20 pages of 2^14 bytes, K and V in turn.
  const ByteRuns k{0, 8192, {{1 << 20, 16384}}};
  CHECK(sharing_of(k, ByteRuns{8192, 8192, {{1 << 20, 16384}}}) == Sharing::kInterleaved);
  CHECK(sharing_of(k, ByteRuns{8191, 8192, {{1 << 20, 16384}}}) == Sharing::kShared);
}

}  // namespace flashcheck
