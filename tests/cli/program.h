#pragma once

#include <string>

struct ProgramResult {
  int status = -1;  // exit status; 128 + n for signal n
  std::string out, err;

  /// Both streams and the status, for a golden file.
  std::string whole() const;
};

/// Runs flashcheck from the repository's root through `sh -c`, so `arguments` may hold quotes and
/// redirections; `environment` is put before the command ("COLUMNS=40").
ProgramResult flashcheck_program(const std::string& arguments, const std::string& environment = "");
