#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace flashcheck {

/// What flashcheck says of one call.
enum class Verdict : uint8_t {
  kOk,        // accepted, no hazard of severity warning or worse, numbers right if they were judged
  kError,     // the wrapper returns an error
  kPanic,     // the wrapper panics
  kHazard,    // accepted, and something goes wrong in silence
  kMismatch,  // the numbers are wrong
  kMistrusted,  // the numbers agree, but they prove too little
  kSkipped,     // could not be judged; the reason is a finding
  kInvalid,     // not a case
};

/// "ok", "error", …: as case files and reports spell it.
std::string_view name_of(Verdict verdict);
std::optional<Verdict> parse_verdict(std::string_view name);

}  // namespace flashcheck
