#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "src/check_case.h"

namespace flashcheck {

// What several report formats say in the same words.

/// The findings that explain the verdict, the first one first: what the wrapper said; hazards of
/// severity warning or worse; what the numbers or the execution said.
std::vector<const Finding*> leading_findings(const CaseReport& report);
/// After a wrapper's error: the later checks that would fail too.
std::vector<const Finding*> findings_after_that(const CaseReport& report);
/// Hazards of severity information.
std::vector<const Finding*> information(const CaseReport& report);

/// One line for a sound call: who accepts it, and how far the numbers were checked.
std::string sound_sentence(const CaseReport& report);
/// One line with the numbers of a comparison. Precondition: the report has one.
std::string numbers_sentence(const Comparison& comparison);
/// "f16 [128, 2, 64], strides [128, 64, 1], offset 64, storage pool of 32768, cuda:0", what is
/// default left out; or the value of an argument; empty for other places.
std::string describe_place(const Case& c, std::string_view pointer);
/// The command that repeats this case alone. `command` is what comes before the files:
/// "flashcheck run".
std::string repeat_command(const CaseReport& report, std::string_view command);
/// `text` as one word of a POSIX shell.
std::string shell_quoted(std::string_view text);

}  // namespace flashcheck
