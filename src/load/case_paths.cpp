#include <algorithm>
#include <filesystem>
#include <string>
#include <system_error>
#include <vector>

#include "src/load/case_file_rules.h"
#include "src/load/complaints.h"
#include "src/load/load.h"

namespace flashcheck {
namespace {

namespace fs = std::filesystem;

bool is_case_file(const fs::path& path) {
  return path.extension() == ".json" || path.extension() == ".jsonl";
}

LoadComplaint cannot_read(const std::string& path, std::string expected, std::string got) {
  Complaints complaints(path);
  complaints.add_about("the path", complaint::kCannotRead, std::move(expected), std::move(got));
  return complaints.take().front();
}

/// Adds the case files below a directory in order of name, links to directories followed only where
/// the user named one: a cycle would have no end.
void walk(const std::string& directory, CasePaths& paths) {
  std::error_code error;
  std::vector<fs::directory_entry> entries;
  for (fs::directory_iterator at(directory, error), end; !error && at != end; at.increment(error)) {
    entries.push_back(*at);
  }
  if (error) {
    paths.complaints.push_back(cannot_read(directory, "a readable directory", error.message()));
    return;
  }
  std::sort(entries.begin(), entries.end(),
            [](const auto& a, const auto& b) { return a.path() < b.path(); });
  for (const fs::directory_entry& entry : entries) {
    if (entry.is_directory(error) && !entry.is_symlink(error)) {
      walk(entry.path().string(), paths);
    } else if (entry.is_directory(error) || !is_case_file(entry.path())) {
      continue;
    } else if (entry.is_other(error)) {
      // Nobody named it, and opening a pipe could wait for ever.
      paths.complaints.push_back(
          cannot_read(entry.path().string(), "a regular file", "a pipe, socket or device"));
    } else {
      paths.files.push_back(entry.path().string());
    }
  }
}

}  // namespace

CasePaths expand_paths(const std::vector<std::string>& arguments) {
  CasePaths paths;
  for (const std::string& argument : arguments) {
    std::error_code error;
    const fs::file_status status =
        argument == "-" ? fs::file_status() : fs::status(argument, error);
    if (argument == "-") {
      paths.files.push_back(argument);
    } else if (!fs::exists(status)) {
      paths.complaints.push_back(cannot_read(argument, "a file or a directory",
                                             error && status.type() != fs::file_type::not_found
                                                 ? error.message()
                                                 : "nothing of that name"));
    } else if (fs::is_directory(status)) {
      walk(argument, paths);
    } else {
      paths.files.push_back(argument);
    }
  }
  return paths;
}

}  // namespace flashcheck
