#pragma once

namespace flashcheck {

/// What the process returns. Where several apply, the first of 70, 2, 3, 5, 4, 1 wins.
enum class ExitStatus {
  kOk = 0,             // everything selected ran and is as expected (a question: the call is sound)
  kUnexpected = 1,     // at least one is not
  kUsage = 2,          // wrong usage
  kBadCaseFile = 3,    // a case file cannot be read or is not a case
  kNothingRan = 4,     // nothing selected or nothing ran, unless --allow-empty
  kMissing = 5,        // a demanded capability is missing
  kInternalFault = 70  // a fault of the tool itself
};

}  // namespace flashcheck
