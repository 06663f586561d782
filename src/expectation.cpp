#include "src/expectation.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string>

namespace flashcheck {
namespace {

bool is_numeric(Verdict verdict) {
  return verdict == Verdict::kMismatch || verdict == Verdict::kMistrusted;
}

/// What the wrapper said, in a word: for the "actual" of a demand.
std::string said(const CaseReport& report) {
  if (report.outcome.kind == Outcome::Kind::kLaunch) return "accepted";
  const bool is_panic = report.outcome.kind == Outcome::Kind::kPanic;
  return (is_panic ? "panic: " : "error: ") + report.outcome.findings.front().message;
}

void demand_text(const CaseReport& report, const std::optional<std::string>& text, bool is_panic,
                 std::vector<Unmet>& unmet) {
  if (!text) return;
  const std::string prefix = is_panic ? "panic: " : "error: ";
  if (said(report) != prefix + *text) {
    unmet.push_back({is_panic ? "panic" : "error", *text, said(report)});
  }
}

std::string show(const LaunchValue& value) {
  if (const auto* flag = std::get_if<bool>(&value)) return *flag ? "true" : "false";
  if (const auto* integer = std::get_if<int64_t>(&value)) return std::to_string(*integer);
  if (const auto* real = std::get_if<double>(&value)) return fmt::format("{}", *real);
  return "null";
}

/// Floats of a launch are f32: a demand holds if it rounds to the same one. A whole number stands
/// for a float too.
bool same(const LaunchValue& expected, const LaunchValue& actual) {
  const auto* real = std::get_if<double>(&actual);
  if (!real) return expected == actual;
  const auto* integer = std::get_if<int64_t>(&expected);
  const auto* wanted = std::get_if<double>(&expected);
  if (!integer && !wanted) return false;
  const float a = static_cast<float>(wanted ? *wanted : static_cast<double>(*integer));
  const float b = static_cast<float>(*real);
  return a == b || (std::isnan(a) && std::isnan(b));
}

void demand_launch(const CaseReport& report, const std::vector<LaunchField>& expected,
                   std::vector<Unmet>& unmet) {
  if (expected.empty()) return;
  if (!report.outcome.launch) {
    unmet.push_back({"launch", "accepted", said(report)});
    return;
  }
  const std::vector<LaunchField> actual = launch_fields(*report.outcome.launch);
  for (const LaunchField& field : expected) {
    const auto found = std::find_if(actual.begin(), actual.end(), [&](const LaunchField& other) {
      return other.name == field.name;
    });
    const std::string got =
        found == actual.end() ? "not a parameter of this wrapper" : show(found->value);
    if (found == actual.end() || !same(field.value, found->value)) {
      unmet.push_back({"launch." + field.name, show(field.value), got});
    }
  }
}

void demand_hazards(const CaseReport& report, const std::vector<std::string>& expected,
                    std::vector<Unmet>& unmet) {
  std::vector<std::string> actual;
  for (const Finding& finding : report.hazards) {
    if (finding.rule->severity != Severity::kInformation) actual.emplace_back(finding.rule->code);
  }
  std::vector<std::string> wanted = expected;
  for (std::vector<std::string>* codes : {&actual, &wanted}) {
    std::sort(codes->begin(), codes->end());
    codes->erase(std::unique(codes->begin(), codes->end()), codes->end());
  }
  if (actual != wanted) {
    unmet.push_back({"hazards", fmt::format("[{}]", fmt::join(wanted, ", ")),
                     fmt::format("[{}]", fmt::join(actual, ", "))});
  }
}

void demand_cause(const CaseReport& report, const std::string& cause, std::vector<Unmet>& unmet) {
  std::vector<std::string_view> codes;
  for (const Finding& finding : report.findings) codes.push_back(finding.rule->code);
  if (std::find(codes.begin(), codes.end(), cause) == codes.end()) {
    unmet.push_back({"cause", cause, fmt::format("[{}]", fmt::join(codes, ", "))});
  }
}

}  // namespace

bool needs_numbers(const Case& c) {
  if (!c.expect) return true;
  const std::optional<Verdict>& verdict = c.expect->verdict;
  return c.expect->cause || (verdict && (*verdict == Verdict::kOk || is_numeric(*verdict)));
}

std::vector<Unmet> unmet_demands(const CaseReport& report) {
  std::vector<Unmet> unmet;
  if (!report.c->expect) return unmet;
  const Expect& expect = *report.c->expect;
  demand_text(report, expect.error, false, unmet);
  demand_text(report, expect.panic, true, unmet);
  demand_launch(report, expect.launch, unmet);
  if (expect.hazards) demand_hazards(report, *expect.hazards, unmet);
  if (expect.cause && report.ran) demand_cause(report, *expect.cause, unmet);
  const bool open = expect.verdict && is_numeric(*expect.verdict) && !report.ran &&
                    report.verdict == Verdict::kOk;
  if (expect.verdict && !open && report.verdict != Verdict::kSkipped &&
      *expect.verdict != report.verdict) {
    unmet.push_back(
        {"verdict", std::string(name_of(*expect.verdict)), std::string(name_of(report.verdict))});
  }
  return unmet;
}

Status status_of(const CaseReport& report) {
  if (!report.unmet.empty() || report.device_failed) return Status::kFail;
  if (!report.c->expect) {
    if (report.verdict == Verdict::kSkipped) return Status::kSkipped;
    return report.verdict == Verdict::kOk ? Status::kPass : Status::kFail;
  }
  const Expect& expect = *report.c->expect;
  const bool wants_skipped = expect.verdict == Verdict::kSkipped;
  const bool numbers_open =
      !report.ran && (expect.cause || (expect.verdict && is_numeric(*expect.verdict)));
  if (numbers_open || (report.verdict == Verdict::kSkipped && !wants_skipped && expect.verdict)) {
    return Status::kSkipped;
  }
  return Status::kPass;
}

}  // namespace flashcheck
