#pragma once

#include <fstream>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "src/cli/options.h"
#include "src/report/reporter.h"

namespace flashcheck {

/// The files that reports go to. Each is written under a temporary name beside its own and renamed
/// when it is whole, so that nobody reads half a report. Devices and pipes are written to directly.
class OutputFiles {
 public:
  OutputFiles() = default;
  OutputFiles(const OutputFiles&) = delete;
  OutputFiles& operator=(const OutputFiles&) = delete;
  /// What was not closed is removed.
  ~OutputFiles();

  /// A reporter for each target; "-" is stdout, and only there does `style`'s colour apply. Throws
  /// OutputError if a file cannot be made.
  std::vector<std::unique_ptr<Reporter>> open(const std::vector<OutputTarget>& targets,
                                              const TextStyle& style);
  /// Flushes and renames. Throws OutputError if anything could not be written.
  void close();

 private:
  struct File {
    std::string path;     // what it is called when it is whole
    std::string written;  // what it is called until then; the same where is_renamed is false
    bool is_renamed = true;
    std::ofstream stream = {};
  };
  static File place(const std::string& path);
  std::vector<std::unique_ptr<File>> files_;
};

/// A report that could not be written; what() names the file and the reason.
struct OutputError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

}  // namespace flashcheck
