#include "src/compare/judge.h"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <set>

#include "src/compare/mismatch_rules.h"

using namespace flashcheck;

namespace {

AttentionProblem problem() {
  AttentionProblem p;
  p.num_heads = 2;
  return p;
}

/// 3 rows of 2 heads of 8 columns, all right.
Comparison good() {
  return {.num_rows_checked = 3, .num_rows = 3, .num_elements = 48, .max_ratio = 0.5};
}

Mismatch wrong_element(double actual) {
  Mismatch mismatch{1, 0, 7, 3};
  mismatch.actual = actual;
  mismatch.expected = 0.5;
  mismatch.error = std::abs(actual - 0.5);
  mismatch.bound = 0.25;
  return mismatch;
}

std::vector<std::string_view> codes(const Comparison& comparison) {
  std::vector<std::string_view> found;
  for (const Finding& finding : judge(problem(), comparison)) found.push_back(finding.rule->code);
  return found;
}

using Codes = std::vector<std::string_view>;

}  // namespace

TEST_CASE("right numbers that prove something") {
  CHECK(codes(good()).empty());
  CHECK(verdict_of(good()) == Verdict::kOk);
}

TEST_CASE("wrong numbers, in words") {
  Comparison comparison = good();
  comparison.num_mismatched = 5;
  comparison.num_wrong_rows = 2;
  comparison.max_ratio = 4;
  comparison.worst = {wrong_element(1.5)};
  comparison.worst[0].visible_pages = {7, 2};
  comparison.fa2_ratio = 12.5;
  const std::vector<Finding> findings = judge(problem(), comparison);
  REQUIRE(findings.size() == 1);
  CHECK(findings[0].rule == &kNumbersOutOfBound);
  CHECK(findings[0].message ==
        "5 of 48 outputs are wrong, in 2 of 6 (row, head) pairs; the worst is 4 times as far off "
        "as its arithmetic allows");
  REQUIRE(findings[0].details.size() == 2);
  CHECK(findings[0].details[0] ==
        "sequence 1, head 0, row 7, column 3: 1.5 instead of 0.5, error 1, bound 0.25, ratio 4, "
        "pages 7, 2");
  CHECK(verdict_of(comparison) == Verdict::kMismatch);
}

TEST_CASE("where only some heads or sequences are wrong, that is said first") {
  Comparison comparison = good();
  comparison.num_mismatched = 5;
  comparison.num_wrong_rows = 2;
  comparison.worst = {wrong_element(1.5)};
  comparison.wrong_rows_of_head = {0, 1, 1, 0};
  comparison.wrong_rows_of_sequence = {1, 1};
  CHECK(judge(problem(), comparison)[0].details[0] == "heads wrong: 1, 2; right: 0, 3");
  CHECK(judge(problem(), comparison)[0].details.size() == 2);
}

TEST_CASE("NaN is told apart from wrong numbers, and unwritten from NaN") {
  Comparison comparison = good();
  comparison.num_mismatched = comparison.num_nonfinite = 2;
  comparison.worst = {wrong_element(std::numeric_limits<double>::quiet_NaN())};
  CHECK(codes(comparison) == Codes{"FC-M002"});
  comparison.num_mismatched = 3;
  CHECK(codes(comparison) == Codes{"FC-M002", "FC-M001"});
  comparison.num_mismatched = comparison.num_unwritten = 2;
  CHECK(codes(comparison) == Codes{"FC-M003"});
  CHECK(verdict_of(comparison) == Verdict::kMismatch);
}

TEST_CASE("a write outside the output is the gravest") {
  Comparison comparison = good();
  comparison.num_guard_bytes_changed = 16;
  CHECK(codes(comparison) == Codes{"FC-M004"});
  CHECK(verdict_of(comparison) == Verdict::kMismatch);
  comparison.num_unwritten = 1;
  CHECK(codes(comparison) == Codes{"FC-M004", "FC-M003"});
}

TEST_CASE("lse alone may be wrong") {
  Comparison comparison = good();
  comparison.num_lse_checked = 6;
  comparison.num_lse_mismatched = 1;
  comparison.first_lse_mismatch = {0, 1, 2, 1.5, 1.25, 0.001};
  const std::vector<Finding> findings = judge(problem(), comparison);
  REQUIRE(findings.size() == 1);
  CHECK(
      findings[0].message ==
      "1 of 6 values of lse are wrong; the first: sequence 0, head 1, row 2: 1.5 instead of 1.25");
  CHECK(verdict_of(comparison) == Verdict::kMismatch);
}

TEST_CASE("another arithmetic that fits comes with the line to declare it") {
  Comparison comparison = good();
  comparison.num_mismatched = 1;
  comparison.worst = {wrong_element(1.5)};
  comparison.fits = Arithmetic{.accumulate = Arithmetic::Accumulate::kF16};
  const std::vector<Finding> findings = judge(problem(), comparison);
  REQUIRE(findings.size() == 2);
  CHECK(findings[1].rule == &kFitsOtherArithmetic);
  CHECK(findings[1].message ==
        "more error than f32 accumulation with P rounded to the input's dtype allows, but every "
        "output fits a running output in f16 with P rounded to the input's dtype");
  CHECK(findings[1].fix ==
        "If the engine is meant to compute so, declare it: \"arithmetic\": {\"accumulate\": "
        "\"f16\", \"p\": \"input\"}.");
  CHECK(verdict_of(comparison) == Verdict::kMismatch);
}

TEST_CASE("numbers that agree and prove nothing are mistrusted") {
  Comparison constant = good();
  constant.is_constant = true;
  CHECK(codes(constant) == Codes{"FC-M005"});
  CHECK(verdict_of(constant) == Verdict::kMistrusted);
  constant.num_mismatched = 1;
  constant.worst = {wrong_element(1.5)};
  CHECK(codes(constant) == Codes{"FC-M001"});
  CHECK(verdict_of(constant) == Verdict::kMismatch);

  CHECK(codes(Comparison{}) == Codes{"FC-M008"});
  CHECK(verdict_of(Comparison{}) == Verdict::kMistrusted);

  Comparison unbounded = good();
  unbounded.num_unbounded = 47;
  CHECK(codes(unbounded) == Codes{"FC-M009"});
  CHECK(verdict_of(unbounded) == Verdict::kOk);
  unbounded.num_unbounded = 48;
  CHECK(verdict_of(unbounded) == Verdict::kMistrusted);
}

TEST_CASE("the rules are complete and in order") {
  std::set<std::string_view> names;
  std::string_view before;
  for (const Rule* rule : mismatch_rules()) {
    CHECK(rule->code > before);
    before = rule->code;
    CHECK(names.insert(rule->name).second);
    CHECK_FALSE(rule->message.empty());
    CHECK_FALSE(rule->why.empty());
    CHECK_FALSE(rule->fix.empty());
    CHECK_FALSE(rule->source.empty());
  }
}
