#include "src/report/reporter.h"

namespace flashcheck {

void Summary::add(const CaseReport& report) {
  ++verdicts[std::string(name_of(report.verdict))];
  switch (report.status) {
    case Status::kPass:
      ++num_passed;
      break;
    case Status::kFail:
      ++num_failed;
      break;
    case Status::kSkipped:
      ++num_skipped;
      ++skip_reasons[report.findings.empty() ? "needs-a-run"
                                             : std::string(report.findings.front().rule->name)];
      break;
  }
}

}  // namespace flashcheck
