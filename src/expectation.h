#pragma once

#include <vector>

#include "src/check_case.h"

namespace flashcheck {

/// Whether the numbers are needed to judge a case: it is a question, or it demands a verdict that
/// only a run can give.
bool needs_numbers(const Case& c);

/// The demands of the case's `expect` that the report does not meet; of a question none.
/// `ran` false: demands that only numbers can meet are left out.
std::vector<Unmet> unmet_demands(const CaseReport& report);

/// Pass, fail or skipped, from the verdict and the unmet demands.
Status status_of(const CaseReport& report);

}  // namespace flashcheck
