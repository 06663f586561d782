#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "src/spec/case.h"
#include "src/spec/finding.h"

namespace flashcheck {

/// A complaint about a file: a finding of an FC-Cnnn rule, with its place.
struct LoadComplaint {
  CaseSource source;  // line of the offending value
  Finding finding;    // args hold at least what was expected and what came
};

struct LoadResult {
  std::vector<Case> cases;  // in order; of a file with a complaint none
  std::vector<LoadComplaint> complaints;
};

/// Reads one case file: `.jsonl` is a case a line, everything else one JSON document; "-" is stdin
/// (a document, or, if there is more than one line that is a document of its own, lines). Never
/// throws for what a file holds.
LoadResult load_file(const std::string& path);
/// The same from memory; `path` names it in complaints and is what `file` entries are relative to.
LoadResult load_text(std::string_view text, const std::string& path, bool is_jsonl);

/// Files and directories as the user gave them, directories replaced by the .json and .jsonl files
/// below them in order of name; files named are kept whatever their ending.
struct CasePaths {
  std::vector<std::string> files;
  std::vector<LoadComplaint> complaints;  // no such file, …
};
CasePaths expand_paths(const std::vector<std::string>& arguments);

/// Every FC-Cnnn rule, ascending.
std::span<const Rule* const> case_file_rules();

}  // namespace flashcheck
