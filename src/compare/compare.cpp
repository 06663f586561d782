#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "reference/visible_keys.h"
#include "src/compare/bound.h"
#include "src/compare/comparison.h"
#include "src/compare/pairing.h"
#include "src/compare/row_statistics.h"

namespace flashcheck {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr size_t kMaxWorst = 8;

double ratio_of(double error, double bound) {
  if (!std::isfinite(error)) return kInfinity;
  return error == 0 ? 0 : error / bound;
}

/// Where the truth itself is NaN or infinite (a visible key is), so must be the output.
double element_ratio(double actual, double expected, double bound) {
  if (!std::isfinite(expected)) return std::isfinite(actual) ? kInfinity : 0;
  return ratio_of(std::fabs(actual - expected), bound);
}

/// A row that sees no key has lse +inf in the truth: nothing else will do.
double lse_ratio(double actual, double expected, double bound) {
  if (actual == expected || (std::isnan(actual) && std::isnan(expected))) return 0;
  return ratio_of(std::fabs(actual - expected), bound);
}

/// Errors as shares of the bound, in the order of Reference::out.
struct Ratios {
  std::vector<double> of_element;
  int64_t num_unbounded = 0;

  bool all_fit() const {
    return std::all_of(of_element.begin(), of_element.end(), [](double r) { return r <= 1; });
  }
};

Ratios ratios_under(const Arithmetic& arithmetic, const AttentionProblem& problem,
                    const Output& actual, const Reference& expected) {
  const Pairing pairing(problem, actual, expected);
  Ratios ratios;
  ratios.of_element.reserve(expected.out.size());
  for (size_t line = 0; line < pairing.num_lines(); ++line) {
    const RowBound row_bound(problem, arithmetic, actual.dtype, expected, line);
    for (int64_t c = 0; c < problem.head_dim; ++c) {
      const size_t element = pairing.element(line, c);
      const double bound = row_bound.out(element);
      ratios.of_element.push_back(
          element_ratio(pairing.actual(line, c), expected.out[element], bound));
      ratios.num_unbounded += std::isinf(bound);
    }
  }
  return ratios;
}

std::vector<int64_t> pages_seen(const AttentionProblem& problem, QueryRow row) {
  std::vector<int64_t> pages;
  if (!problem.is_paged) return pages;
  const auto& table = problem.block_table[static_cast<size_t>(row.sequence)];
  for (const KeyRange& range : visible_keys(problem, row.sequence, row.i)) {
    const int64_t last = (range.end - 1) / problem.page_block_size;
    for (int64_t n = range.begin / problem.page_block_size; n <= last; ++n) {
      const int64_t page = table[static_cast<size_t>(n)];
      if (std::find(pages.begin(), pages.end(), page) == pages.end()) pages.push_back(page);
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

/// Whether the checked outputs are one number, and whether they ought to be.
void look_for_constants(const AttentionProblem& problem, const Output& actual,
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
  const auto [low, high] = std::minmax_element(expected.out.begin(), expected.out.end());
  const double ulp = 2 * unit_roundoff(actual.dtype) * std::max(std::fabs(*low), std::fabs(*high));
  comparison.expected_is_constant = *high - *low <= ulp;
}

/// FlashAttention's own test, with one ulp of the output as a floor: where the naive run happens to
/// make no error, nothing could meet it otherwise.
std::optional<double> fa2_ratio(const AttentionProblem& problem, const Output& actual,
                                const Reference& expected) {
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

/// Whether an output of zeros would be refused: an arithmetic that lets it pass explains nothing.
bool refuses_zeros(const Arithmetic& arithmetic, const AttentionProblem& problem,
                   const Output& actual, const Reference& expected) {
  Output zeros{.dtype = actual.dtype, .out = std::vector<double>(actual.out.size())};
  return !ratios_under(arithmetic, problem, zeros, expected).all_fit();
}

/// The first looser arithmetic than the declared one that explains every element.
std::optional<Arithmetic> fitting_arithmetic(const AttentionProblem& problem, const Output& actual,
                                             const Reference& expected) {
  const Arithmetic declared = problem.arithmetic;
  std::vector<Arithmetic> candidates;
  for (const auto tanh : {declared.tanh, Arithmetic::Tanh::kApproximate}) {
    for (const auto accumulate : {declared.accumulate, Arithmetic::Accumulate::kF16}) {
      for (const auto p : {declared.p, Arithmetic::P::kInput}) {
        candidates.push_back({.accumulate = accumulate, .p = p, .tanh = tanh});
      }
    }
  }
  for (const Arithmetic& candidate : candidates) {
    if (candidate == declared) continue;
    // Without a cap there is no tanh, and only f16 is accumulated in f16.
    if (candidate.tanh != declared.tanh && !problem.softcap) continue;
    if (candidate.accumulate != declared.accumulate && problem.dtype != Dtype::kF16) continue;
    if (ratios_under(candidate, problem, actual, expected).all_fit() &&
        refuses_zeros(candidate, problem, actual, expected)) {
      return candidate;
    }
  }
  return std::nullopt;
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
    comparison.num_statistical_outliers +=
        is_statistical_outlier(problem, actual.dtype, expected, pairing, line);
  }
  if (!ratios.of_element.empty()) {
    comparison.max_ratio = *std::max_element(ratios.of_element.begin(), ratios.of_element.end());
  }
  comparison.median_ratio = median_of(ratios.of_element);
  comparison.worst = worst_of(ratios.of_element, problem, actual, expected);
  look_for_constants(problem, actual, expected, comparison);
  compare_lse(problem, actual, expected, comparison);
  comparison.fa2_ratio = fa2_ratio(problem, actual, expected);
  if (comparison.num_mismatched > 0) {
    comparison.fits = fitting_arithmetic(problem, actual, expected);
  }
  return comparison;
}

}  // namespace flashcheck
