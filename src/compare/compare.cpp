#include <algorithm>
#include <cmath>
#include <limits>
#include <unordered_set>
#include <utility>

#include "reference/visible_keys.h"
#include "src/compare/bound.h"
#include "src/compare/comparison.h"
#include "src/compare/fitting_arithmetic.h"
#include "src/compare/pairing.h"
#include "src/compare/ratios.h"
#include "src/compare/row_statistics.h"

namespace flashcheck {
namespace {

constexpr size_t kMaxWorst = 8;

/// A row that sees no key has lse +inf in the truth: nothing else will do. Where a visible score is
/// no number, NaN is as good as the +inf that candle writes (kernels/softmax.h:178-179).
double lse_ratio(double actual, double expected, double bound) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  if (std::isnan(expected)) return std::isnan(actual) || actual == kInfinity ? 0 : kInfinity;
  if (actual == expected) return 0;
  return ratio_of(std::fabs(actual - expected), bound);
}

std::vector<int64_t> pages_seen(const AttentionProblem& problem, QueryRow row) {
  std::vector<int64_t> pages;
  if (!problem.is_paged) return pages;
  std::unordered_set<int64_t> seen;
  const auto& table = problem.block_table[static_cast<size_t>(row.sequence)];
  for (const KeyRange& range : visible_keys(problem, row.sequence, row.i)) {
    const int64_t last = (range.end - 1) / problem.page_block_size;
    for (int64_t n = range.begin / problem.page_block_size; n <= last; ++n) {
      const int64_t page = table[static_cast<size_t>(n)];
      if (seen.insert(page).second) pages.push_back(page);
    }
  }
  return pages;
}

std::vector<Mismatch> worst_of(const std::vector<double>& ratios, const AttentionProblem& problem,
                               const Output& actual, const Reference& expected) {
  std::vector<size_t> wrong;
  for (size_t n = 0; n < ratios.size(); ++n) {
    if (!(ratios[n] <= 1)) wrong.push_back(n);
  }
  const size_t count = std::min(kMaxWorst, wrong.size());
  std::partial_sort(
      wrong.begin(), wrong.begin() + static_cast<std::ptrdiff_t>(count), wrong.end(),
      [&](size_t a, size_t b) { return ratios[a] != ratios[b] ? ratios[a] > ratios[b] : a < b; });
  wrong.resize(count);
  const Pairing pairing(problem, actual, expected);
  std::vector<Mismatch> worst;
  for (const size_t element : wrong) {
    const size_t line = element / static_cast<size_t>(problem.head_dim);
    const auto column = static_cast<int64_t>(element % static_cast<size_t>(problem.head_dim));
    const QueryRow row = pairing.row(line);
    Mismatch mismatch{row.sequence, pairing.head(line), row.i, column};
    mismatch.actual = pairing.raw_actual(line, column);
    mismatch.expected = expected.out[element];
    mismatch.error = std::fabs(mismatch.actual - mismatch.expected);
    mismatch.bound =
        RowBound(problem, problem.arithmetic, actual.dtype, expected, line).out(element);
    mismatch.visible_pages = pages_seen(problem, row);
    worst.push_back(std::move(mismatch));
  }
  return worst;
}

double median_of(std::vector<double> values) {
  if (values.empty()) return 0;
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

void compare_lse(const AttentionProblem& problem, const Output& actual, const Reference& expected,
                 Comparison& comparison) {
  if (actual.lse.empty()) return;
  const Pairing pairing(problem, actual, expected);
  for (size_t line = 0; line < pairing.num_lines(); ++line) {
    const double bound = RowBound(problem, problem.arithmetic, actual.dtype, expected, line).lse();
    const double ratio = lse_ratio(pairing.actual_lse(line), expected.lse[line], bound);
    ++comparison.num_lse_checked;
    comparison.max_lse_ratio = std::max(comparison.max_lse_ratio, ratio);
    if (ratio <= 1) continue;
    ++comparison.num_lse_mismatched;
    if (comparison.first_lse_mismatch) continue;
    const QueryRow row = pairing.row(line);
    comparison.first_lse_mismatch = {
        row.sequence, pairing.head(line), row.i, pairing.actual_lse(line), expected.lse[line],
        bound};
  }
}

/// Whether the checked outputs are one number.
void look_for_constant(const AttentionProblem& problem, const Output& actual,
                       const Reference& expected, Comparison& comparison) {
  if (expected.out.empty()) return;
  const Pairing pairing(problem, actual, expected);
  const double first = pairing.raw_actual(0, 0);
  comparison.is_constant = true;
  for (size_t line = 0; line < pairing.num_lines(); ++line) {
    for (int64_t c = 0; c < problem.head_dim; ++c) {
      comparison.is_constant = comparison.is_constant && pairing.raw_actual(line, c) == first;
    }
  }
  if (comparison.is_constant) comparison.constant_value = first;
}

/// FlashAttention's own test, with one ulp of the output as a floor: where the naive run happens to
/// make no error, nothing could meet it otherwise. It has none for f32, where the naive run, exact
/// between its three roundings, would be better than any kernel.
std::optional<double> fa2_ratio(const AttentionProblem& problem, const Output& actual,
                                const Reference& expected) {
  if (problem.dtype == Dtype::kF32) return std::nullopt;
  const Pairing pairing(problem, actual, expected);
  double largest_error = 0, largest = 0;
  for (size_t line = 0; line < pairing.num_lines(); ++line) {
    for (int64_t c = 0; c < problem.head_dim; ++c) {
      const double truth = expected.out[pairing.element(line, c)];
      const double error = std::fabs(pairing.actual(line, c) - truth);
      if (!std::isfinite(error)) return std::nullopt;
      largest_error = std::max(largest_error, error);
      largest = std::max(largest, std::fabs(truth));
    }
  }
  const double ulp =
      std::max(2 * unit_roundoff(actual.dtype) * largest, smallest_subnormal(actual.dtype));
  return largest_error / (2 * expected.low_precision_error + ulp);
}

}  // namespace

double Mismatch::ratio() const { return ratio_of(error, bound); }

Comparison compare(const AttentionProblem& problem, const Output& actual,
                   const Reference& expected) {
  Comparison comparison;
  comparison.num_rows_checked = static_cast<int64_t>(expected.rows.size());
  for (const Sequence& s : problem.sequences) comparison.num_rows += s.seqlen_q;
  comparison.num_elements = static_cast<int64_t>(expected.out.size());
  comparison.num_unwritten = actual.num_unwritten;
  comparison.num_guard_bytes_changed = actual.num_guard_bytes_changed;

  const Ratios ratios = ratios_under(problem.arithmetic, problem, actual, expected);
  const Pairing pairing(problem, actual, expected);
  comparison.num_unbounded = ratios.num_unbounded;
  comparison.wrong_rows_of_head.resize(static_cast<size_t>(problem.num_heads));
  comparison.wrong_rows_of_sequence.resize(problem.sequences.size());
  for (size_t line = 0; line < pairing.num_lines(); ++line) {
    int64_t wrong = 0;
    for (int64_t c = 0; c < problem.head_dim; ++c) {
      const size_t element = pairing.element(line, c);
      if (ratios.of_element[element] <= 1) continue;
      ++wrong;
      comparison.num_nonfinite +=
          std::isfinite(expected.out[element]) && !std::isfinite(pairing.raw_actual(line, c));
    }
    comparison.num_mismatched += wrong;
    comparison.num_wrong_rows += wrong > 0;
    comparison.wrong_rows_of_head[static_cast<size_t>(pairing.head(line))] += wrong > 0;
    comparison.wrong_rows_of_sequence[static_cast<size_t>(pairing.row(line).sequence)] += wrong > 0;
    comparison.num_statistical_outliers +=
        is_statistical_outlier(problem, actual.dtype, expected, pairing, line);
  }
  if (!ratios.of_element.empty()) {
    comparison.max_ratio = *std::max_element(ratios.of_element.begin(), ratios.of_element.end());
  }
  comparison.median_ratio = median_of(ratios.of_element);
  comparison.worst = worst_of(ratios.of_element, problem, actual, expected);
  look_for_constant(problem, actual, expected, comparison);
  compare_lse(problem, actual, expected, comparison);
  comparison.fa2_ratio = fa2_ratio(problem, actual, expected);
  if (comparison.num_mismatched > 0) {
    comparison.fits = fitting_arithmetic(problem, actual, expected);
  }
  return comparison;
}

}  // namespace flashcheck
