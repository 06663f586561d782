#include "src/compare/judge.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

#include "src/compare/mismatch_rules.h"

namespace flashcheck {
namespace {

std::string number(double value) { return fmt::format("{:.6g}", value); }

std::string words_of(const Arithmetic& arithmetic) {
  std::string words = arithmetic.accumulate == Arithmetic::Accumulate::kF16
                          ? "a running output in f16"
                          : "f32 accumulation";
  words += arithmetic.p == Arithmetic::P::kInput ? " with P rounded to the input's dtype"
                                                 : " with P in f32";
  if (arithmetic.tanh == Arithmetic::Tanh::kApproximate) words += " and an approximate tanh";
  return words;
}

std::string json_of(const Arithmetic& arithmetic) {
  std::string json =
      fmt::format(R"({{"accumulate": "{}", "p": "{}")",
                  arithmetic.accumulate == Arithmetic::Accumulate::kF16 ? "f16" : "f32",
                  arithmetic.p == Arithmetic::P::kInput ? "input" : "f32");
  if (arithmetic.tanh == Arithmetic::Tanh::kApproximate) json += R"(, "tanh": "approximate")";
  return json + "}";
}

std::string describe(const Mismatch& m) {
  std::string text = fmt::format(
      "sequence {}, head {}, row {}, column {}: {} instead of {}, error {}, bound {}, ratio {}",
      m.sequence, m.head, m.row, m.column, number(m.actual), number(m.expected), number(m.error),
      number(m.bound), number(m.ratio()));
  if (!m.visible_pages.empty()) {
    text += fmt::format(", pages {}", fmt::join(m.visible_pages, ", "));
  }
  return text;
}

/// "heads 1, 2 are wrong, and 0, 3 right", at most eight of each; empty where all are alike.
std::string which_are_wrong(std::string_view what, const std::vector<int64_t>& wrong_rows) {
  constexpr size_t kMost = 8;
  std::vector<size_t> wrong, right;
  for (size_t n = 0; n < wrong_rows.size(); ++n) (wrong_rows[n] > 0 ? wrong : right).push_back(n);
  if (wrong.empty() || right.empty()) return "";
  const auto listed = [&](const std::vector<size_t>& all) {
    const std::vector<size_t> first(
        all.begin(), all.begin() + static_cast<std::ptrdiff_t>(std::min(kMost, all.size())));
    const std::string more =
        all.size() > kMost ? fmt::format(" and {} more", all.size() - kMost) : "";
    return fmt::format("{}{}", fmt::join(first, ", "), more);
  };
  return fmt::format("{} wrong: {}; right: {}", what, listed(wrong), listed(right));
}

int64_t num_lines(const AttentionProblem& problem, const Comparison& comparison) {
  return comparison.num_rows_checked * problem.num_heads;
}

Finding numbers_out_of_bound(const AttentionProblem& problem, const Comparison& c) {
  Finding finding = make_finding(kNumbersOutOfBound, "",
                                 {{"wrong", std::to_string(c.num_mismatched)},
                                  {"checked", std::to_string(c.num_elements)},
                                  {"wrong_rows", std::to_string(c.num_wrong_rows)},
                                  {"lines", std::to_string(num_lines(problem, c))},
                                  {"ratio", number(c.max_ratio)}});
  for (const std::string& pattern : {which_are_wrong("heads", c.wrong_rows_of_head),
                                     which_are_wrong("sequences", c.wrong_rows_of_sequence)}) {
    if (!pattern.empty()) finding.details.push_back(pattern);
  }
  for (const Mismatch& mismatch : c.worst) finding.details.push_back(describe(mismatch));
  if (c.fa2_ratio) {
    finding.details.push_back(fmt::format(
        "FlashAttention's own test (at most twice the error of a naive run): {} of its allowance",
        number(*c.fa2_ratio)));
  }
  return finding;
}

Finding non_finite_output(const Comparison& c) {
  const auto is_nonfinite = [](const Mismatch& m) { return !std::isfinite(m.actual); };
  const auto found = std::find_if(c.worst.begin(), c.worst.end(), is_nonfinite);
  const Mismatch& first = found == c.worst.end() ? c.worst.front() : *found;
  return make_finding(kNonFiniteOutput, "",
                      {{"wrong", std::to_string(c.num_nonfinite)},
                       {"checked", std::to_string(c.num_elements)},
                       {"sequence", std::to_string(first.sequence)},
                       {"head", std::to_string(first.head)},
                       {"row", std::to_string(first.row)},
                       {"column", std::to_string(first.column)}});
}

Finding lse_out_of_bound(const Comparison& c) {
  const LseMismatch& first = *c.first_lse_mismatch;
  return make_finding(kLseOutOfBound, "",
                      {{"wrong", std::to_string(c.num_lse_mismatched)},
                       {"checked", std::to_string(c.num_lse_checked)},
                       {"sequence", std::to_string(first.sequence)},
                       {"head", std::to_string(first.head)},
                       {"row", std::to_string(first.row)},
                       {"actual", number(first.actual)},
                       {"expected", number(first.expected)}});
}

Finding fits_other_arithmetic(const AttentionProblem& problem, const Arithmetic& fitting) {
  Finding finding =
      make_finding(kFitsOtherArithmetic, "",
                   {{"declared", words_of(problem.arithmetic)}, {"fitting", words_of(fitting)}});
  finding.fix = fmt::format("If the engine is meant to compute so, declare it: \"arithmetic\": {}.",
                            json_of(fitting));
  return finding;
}

bool proves_too_little(const Comparison& c) {
  return c.num_elements == 0 || c.is_constant || c.num_unbounded == c.num_elements;
}

bool is_wrong(const Comparison& c) {
  return c.num_mismatched > 0 || c.num_unwritten > 0 || c.num_guard_bytes_changed > 0 ||
         c.num_lse_mismatched > 0;
}

}  // namespace

std::vector<Finding> judge(const AttentionProblem& problem, const Comparison& c) {
  std::vector<Finding> findings;
  if (c.num_guard_bytes_changed > 0) {
    findings.push_back(make_finding(kWriteOutsideOutput, "",
                                    {{"bytes", std::to_string(c.num_guard_bytes_changed)}}));
  }
  if (c.num_unwritten > 0) {
    findings.push_back(
        make_finding(kUnwrittenOutput, "", {{"unwritten", std::to_string(c.num_unwritten)}}));
  }
  // What was never written is NaN too, and already told.
  if (c.num_nonfinite > c.num_unwritten) findings.push_back(non_finite_output(c));
  if (c.num_mismatched > c.num_nonfinite) findings.push_back(numbers_out_of_bound(problem, c));
  if (c.num_lse_mismatched > 0) findings.push_back(lse_out_of_bound(c));
  if (c.fits) findings.push_back(fits_other_arithmetic(problem, *c.fits));

  if (c.num_elements == 0) {
    findings.push_back(make_finding(kNothingCompared, "", {{"rows", std::to_string(c.num_rows)}}));
  } else if (c.is_constant && !is_wrong(c)) {
    findings.push_back(make_finding(
        kConstantOutput, "",
        {{"checked", std::to_string(c.num_elements)}, {"value", number(c.constant_value)}}));
  }
  if (c.num_unbounded > 0) {
    findings.push_back(make_finding(kBoundPromisesNothing, "",
                                    {{"unbounded", std::to_string(c.num_unbounded)},
                                     {"checked", std::to_string(c.num_elements)}}));
  }
  return findings;
}

Verdict verdict_of(const Comparison& comparison) {
  if (is_wrong(comparison)) return Verdict::kMismatch;
  if (proves_too_little(comparison)) return Verdict::kMistrusted;
  return Verdict::kOk;
}

}  // namespace flashcheck
