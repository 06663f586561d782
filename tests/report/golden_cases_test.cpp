#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>

#include "src/check_case.h"
#include "src/load/load.h"
#include "src/report/reporter.h"
#include "tests/golden.h"

namespace fs = std::filesystem;
using namespace flashcheck;

namespace {

/// The shipped cases whose whole text is kept: those about messages. Numbers in a golden file would
/// tie it to one machine's libm.
std::vector<fs::path> worded_cases() {
  std::vector<fs::path> files;
  for (const auto& entry : fs::directory_iterator(fs::path(FLASHCHECK_SOURCE_DIR) / "cases")) {
    const std::string name = entry.path().filename().string();
    if (name.starts_with("contract-") || name.starts_with("hazard-")) files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  return files;
}

/// What `flashcheck check --verbose cases/NAME` prints.
std::string verbose_text(const fs::path& file) {
  std::stringstream text;
  text << std::ifstream(file).rdbuf();
  const LoadResult loaded =
      load_text(text.str(), "cases/" + file.filename().string(), /*is_jsonl=*/false);
  std::ostringstream out;
  const auto reporter = make_text_reporter(out, {.verbose = true});
  Summary summary;
  reporter->on_begin({.version = "0", .command = "check"});
  for (const LoadComplaint& complaint : loaded.complaints) reporter->on_complaint(complaint);
  for (const Case& c : loaded.cases) {
    const CaseReport report = check_case(c, {.run_kernel = false});
    summary.add(report);
    reporter->on_case(report);
  }
  reporter->on_end(summary);
  return out.str();
}

}  // namespace

TEST_CASE("every shipped case about messages prints what its golden file holds") {
  const std::vector<fs::path> files = worded_cases();
  REQUIRE(files.size() > 20);
  std::set<std::string> expected_files;
  for (const fs::path& file : files) {
    const std::string name = file.stem().string() + ".txt";
    expected_files.insert(name);
    check_golden("cases/" + name, verbose_text(file));
  }
  for (const auto& entry :
       fs::directory_iterator(fs::path(FLASHCHECK_SOURCE_DIR) / "tests/golden/cases")) {
    CHECK_MESSAGE(expected_files.contains(entry.path().filename().string()),
                  "no case belongs to the golden file ", entry.path().string());
  }
}
