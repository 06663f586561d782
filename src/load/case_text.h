#pragma once

#include <string>
#include <variant>

namespace flashcheck {

/// Why a file's text cannot be had.
struct CaseTextProblem {
  bool is_too_large = false;
  std::string got;
};

/// The largest case file that is read.
inline constexpr long long kMaxCaseFileBytes = 256LL << 20;

/// All bytes of a file, of a pipe, or, for "-", of stdin. Reads no more than the limit and one
/// byte, so an endless input ends.
std::variant<std::string, CaseTextProblem> read_case_text(const std::string& path);

}  // namespace flashcheck
