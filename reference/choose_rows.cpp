#include <algorithm>
#include <numeric>
#include <set>
#include <utility>

#include "reference/reference.h"
#include "reference/visible_keys.h"
#include "src/spec/random_bits.h"

namespace flashcheck {
namespace {

/// The rows of all sequences numbered through.
struct RowNumbers {
  std::vector<int64_t> first;  // of each sequence, and the total
  explicit RowNumbers(const AttentionProblem& problem) {
    first.push_back(0);
    for (const Sequence& s : problem.sequences) first.push_back(first.back() + s.seqlen_q);
  }
  int64_t total() const { return first.back(); }
  QueryRow row(int64_t number) const {
    const auto after = std::upper_bound(first.begin(), first.end(), number);
    const int64_t sequence = after - first.begin() - 1;
    return {sequence, number - first[static_cast<size_t>(sequence)]};
  }
};

/// Rows i - 1 and i for every i at which a query tile or a page of keys begins under the diagonal.
/// Tiles of kernels in use hold 64 or 128 query rows.
std::vector<int64_t> boundary_rows(const AttentionProblem& problem, const RowNumbers& numbers) {
  constexpr int64_t kTile = 64;
  const int64_t page = problem.is_paged ? problem.page_block_size : kTile;
  std::vector<int64_t> rows;
  for (size_t b = 0; b < problem.sequences.size(); ++b) {
    const Sequence& s = problem.sequences[b];
    for (int64_t i = 1; i < s.seqlen_q; ++i) {
      const int64_t position = i + s.seqlen_k - s.seqlen_q;
      if (i % kTile != 0 && position % page != 0) continue;
      rows.push_back(numbers.first[b] + i - 1);
      rows.push_back(numbers.first[b] + i);
    }
  }
  return rows;
}

void shuffle(std::vector<int64_t>& rows, uint64_t seed) {
  for (size_t n = rows.size(); n > 1; --n) {
    std::swap(rows[n - 1], rows[random_bits(seed, n) % n]);
  }
}

}  // namespace

std::vector<QueryRow> choose_rows(const AttentionProblem& problem, int64_t max_work,
                                  uint64_t seed) {
  const RowNumbers numbers(problem);
  // Two products of head_dim multiply-adds a head and visible key; in double, against overflow.
  const double work_per_key =
      2.0 * static_cast<double>(problem.num_heads) * static_cast<double>(problem.head_dim);
  const auto work_of = [&](int64_t number) {
    const QueryRow row = numbers.row(number);
    const int64_t visible = num_keys(visible_keys(problem, row.sequence, row.i));
    return work_per_key * static_cast<double>(visible);
  };
  const double budget = static_cast<double>(max_work);
  double total = 0;
  for (int64_t n = 0; n < numbers.total(); ++n) total += work_of(n);

  std::vector<QueryRow> rows;
  if (total <= budget) {
    for (int64_t n = 0; n < numbers.total(); ++n) rows.push_back(numbers.row(n));
    return rows;
  }

  std::set<int64_t> chosen;
  double spent = 0;
  // Takes rows in order while their work stays within the limit.
  const auto take = [&](const std::vector<int64_t>& candidates, double limit) {
    for (const int64_t n : candidates) {
      if (chosen.contains(n)) continue;
      const double work = work_of(n);
      if (spent + work > limit) return;
      chosen.insert(n);
      spent += work;
    }
  };
  for (size_t b = 0; b < problem.sequences.size(); ++b) {
    if (problem.sequences[b].seqlen_q == 0) continue;
    chosen.insert({numbers.first[b], numbers.first[b + 1] - 1});
  }
  for (const int64_t n : chosen) spent += work_of(n);

  std::vector<int64_t> boundaries = boundary_rows(problem, numbers);
  shuffle(boundaries, seed);
  take(boundaries, spent + (budget - spent) / 2);
  std::vector<int64_t> all(static_cast<size_t>(numbers.total()));
  std::iota(all.begin(), all.end(), 0);
  shuffle(all, seed + 1);
  take(all, budget);
  for (const int64_t n : chosen) rows.push_back(numbers.row(n));
  return rows;
}

}  // namespace flashcheck
