#include <doctest/doctest.h>

#include <map>
#include <string>
#include <vector>

#include "src/check_case.h"
#include "src/hazards/families.h"
#include "tests/cases/shipped.h"

namespace flashcheck {
namespace {

bool is_assumption(const Finding& finding) { return finding.rule->code.starts_with("FC-H9"); }

/// What the assumption of a code says of a shipped case; "" if it is silent.
std::string said(std::string_view id, std::string_view code) {
  for (const Case& c : shipped_cases()) {
    if (c.id != id) continue;
    for (const Finding& finding : check_case(c, {.run_kernel = false}).hazards) {
      if (finding.rule->code == code) return finding.message;
    }
    return "";
  }
  throw std::logic_error("no shipped case " + std::string(id));
}

}  // namespace

TEST_CASE("an assumption is information, and names the reports that it is known from") {
  REQUIRE(engine_assumptions().size() == 8);
  for (const HazardRule& rule : engine_assumptions()) {
    CAPTURE(rule.rule.code);
    CHECK(rule.rule.severity == Severity::kInformation);
    CHECK(rule.kind == HazardKind::kInformation);
    CHECK(rule.rule.name.starts_with("assumes-"));
    CHECK(rule.rule.source.find('#') != std::string_view::npos);
    CHECK(rule.rule.message.find("{numbers}") != std::string_view::npos);
  }
}

TEST_CASE("an assumption is told once a call, and never makes a verdict") {
  int told = 0;
  for (const Case& c : shipped_cases()) {
    const CaseReport report = check_case(c, {.run_kernel = false});
    std::map<std::string_view, int> count;
    bool has_other = false;
    for (const Finding& finding : report.hazards) {
      is_assumption(finding) ? ++count[finding.rule->code] : has_other = true;
    }
    CAPTURE(c.id);
    for (const auto& [code, times] : count) CHECK(times == 1);
    if (!count.empty() && !has_other) CHECK(report.verdict == Verdict::kOk);
    told += static_cast<int>(count.size());
  }
  CHECK(told > 50);
}

TEST_CASE("a packed square call without pages has no note at all") {
  for (const Case& c : shipped_cases()) {
    if (c.id != "regression-field-cu-seqlens" && c.id != "regression-field-gqa/fc-061-onnx-7274") {
      continue;
    }
    CAPTURE(c.id);
    for (const Finding& finding : check_case(c, {.run_kernel = false}).hazards) {
      CHECK_FALSE(is_assumption(finding));
    }
  }
}

TEST_CASE("the numbers of the reports") {
  const std::string_view kOverflow = "FC-H905";
  CHECK(said("regression-field-stride-varlen/fc-135-flash-attention-1562", kOverflow)
            .ends_with("bytes pass 2147483647 in row 49933, elements in 99865"));
  CHECK(said("regression-field-overflow/fc-128-vllm-50427", kOverflow)
            .find("the call uses page 69999 of k") != std::string::npos);
  // Page 8738 starts at element 2147450880 and crosses within its first rows.
  CHECK(said("regression-field-overflow/fc-129-vllm-47671-512", kOverflow)
            .ends_with("elements in 8738"));
  CHECK(said("regression-field-overflow/fc-131-vllm-52109-f16", kOverflow)
            .ends_with("bytes pass 2147483647 in page 1072"));
  CHECK(said("regression-field-overflow-fixed/fc-138-flash-linear-attention-1080", kOverflow)
            .ends_with("8738 rows would fit in bytes, 17476 in elements"));
  CHECK(said("regression-field-overflow-fixed/fc-138-flash-linear-attention-1080-below", kOverflow)
            .empty());
  CHECK(said("regression-field-stride-varlen/fc-011-sglang-31667", "FC-H901")
            .ends_with("q has strides [768, 64, 1], packed [512, 64, 1]"));
  CHECK(said("regression-field-cu-seqlens/fc-032-flash-attention-1537", "FC-H908")
            .ends_with("q has 2 rows for 4 sequences, without a row: 0, 2"));
  CHECK(said("regression-field-nan/fc-105-flash-attention-1745", "FC-H907")
            .ends_with("2 unused rows of v are not finite, first page 1 row 8"));
}

}  // namespace flashcheck
