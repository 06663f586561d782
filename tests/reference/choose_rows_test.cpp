#include <doctest/doctest.h>

#include <algorithm>

#include "reference/reference.h"

using namespace flashcheck;

namespace {

AttentionProblem long_problem() {
  AttentionProblem problem;
  problem.num_heads = problem.num_heads_k = 2;
  problem.head_dim = 64;
  problem.is_varlen = true;
  problem.window_size_right = 0;
  problem.sequences = {
      {0, 1000, 0, 1500}, {1000, 0, 1500, 40}, {1000, 1, 1540, 700}, {1001, 300, 2240, 300}};
  problem.total_q = 1301;
  return problem;
}

bool contains(const std::vector<QueryRow>& rows, int64_t sequence, int64_t i) {
  return std::any_of(rows.begin(), rows.end(),
                     [&](const QueryRow& r) { return r.sequence == sequence && r.i == i; });
}

/// Two multiply-adds for each head, dim and visible key.
int64_t work_of(const AttentionProblem& problem, const std::vector<QueryRow>& rows) {
  int64_t work = 0;
  for (const QueryRow& row : rows) {
    const int64_t seqlen_k = problem.sequences[static_cast<size_t>(row.sequence)].seqlen_k;
    for (int64_t j = 0; j < seqlen_k; ++j) {
      work += problem.is_visible(row.sequence, row.i, j) ? 2 * 2 * 64 : 0;
    }
  }
  return work;
}

}  // namespace

TEST_CASE("all rows where they may cost that much") {
  const std::vector<QueryRow> rows = choose_rows(long_problem(), int64_t{1} << 40, 1);
  REQUIRE(rows.size() == 1301);
  CHECK(rows[1000].sequence == 2);
  CHECK(rows[1001].sequence == 3);
  CHECK(rows[1300].i == 299);
}

TEST_CASE("a sample keeps to the limit and holds the first and last row of every sequence") {
  const AttentionProblem problem = long_problem();
  for (const int64_t limit : {2'000'000, 20'000'000, 100'000'000}) {
    const std::vector<QueryRow> rows = choose_rows(problem, limit, 1);
    CHECK(rows.size() < 1301);
    CHECK(work_of(problem, rows) <= limit);
    CHECK(work_of(problem, rows) > limit / 2);
    for (const auto& [b, last] : {std::pair{0, 999}, {2, 0}, {3, 299}}) {
      CHECK(contains(rows, b, 0));
      CHECK(contains(rows, b, last));
    }
    const auto before = [](const QueryRow& a, const QueryRow& b) {
      return std::pair(a.sequence, a.i) < std::pair(b.sequence, b.i);
    };
    CHECK(std::is_sorted(rows.begin(), rows.end(), before));
    CHECK(std::adjacent_find(rows.begin(), rows.end(), [&](const QueryRow& a, const QueryRow& b) {
            return !before(a, b);
          }) == rows.end());
  }
}

TEST_CASE("a sample of some size holds rows beside tile boundaries and rows that are not") {
  const std::vector<QueryRow> rows = choose_rows(long_problem(), 60'000'000, 1);
  int64_t beside = 0;
  for (const QueryRow& row : rows) beside += row.i % 64 == 0 || row.i % 64 == 63;
  CHECK(beside > 20);  // by chance it would be one in thirty
  CHECK(static_cast<int64_t>(rows.size()) > 2 * beside);
}

TEST_CASE("one row a sequence at least, whatever the limit; the seed decides the rest") {
  const AttentionProblem problem = long_problem();
  CHECK(choose_rows(problem, 0, 1).size() == 5);
  const auto numbers = [&](uint64_t seed) {
    std::vector<int64_t> is;
    for (const QueryRow& row : choose_rows(problem, 20'000'000, seed)) {
      is.push_back(row.sequence * 10'000 + row.i);
    }
    return is;
  };
  CHECK(numbers(1) == numbers(1));
  CHECK(numbers(1) != numbers(2));
  CHECK(choose_rows(AttentionProblem{}, 0, 1).empty());
}
