#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "src/load/load.h"
#include "tests/load/complaint_lines.h"
#include "tests/load/scratch_directory.h"

namespace flashcheck {
namespace {

TEST_CASE("directories are walked in order of name, files are taken as they are") {
  const ScratchDirectory scratch;
  for (const char* name : {"b.json", "a/2.jsonl", "a/10.json", "a/c/x.json", "a/notes.txt",
                           "c.json", "a/x.json.bak", "B.json", "other.txt"}) {
    scratch.write(name, "");
  }
  std::filesystem::create_directory_symlink(scratch.path(), scratch.path() / "a/loop");
  std::filesystem::create_symlink(scratch.path() / "b.json", scratch.path() / "d.json");

  const CasePaths paths =
      expand_paths({scratch / "other.txt", scratch.path().string(), "-", scratch / "a/c"});
  std::vector<std::string> expected{scratch / "other.txt"};
  for (const char* name :
       {"B.json", "a/10.json", "a/2.jsonl", "a/c/x.json", "b.json", "c.json", "d.json"}) {
    expected.push_back(scratch / name);
  }
  expected.push_back("-");
  expected.push_back(scratch / "a/c/x.json");
  CHECK(paths.files == expected);
  CHECK(paths.complaints.empty());
}

TEST_CASE("a path that names nothing is a complaint, and the others are kept") {
  const ScratchDirectory scratch;
  scratch.write("a.json", "");
  const CasePaths paths = expand_paths({scratch / "none", scratch / "a.json", ""});
  CHECK(paths.files == std::vector<std::string>{scratch / "a.json"});
  REQUIRE(paths.complaints.size() == 2);
  CHECK(paths.complaints[0].source.path == scratch / "none");
  CHECK(lines_of(paths.complaints) ==
        std::vector<std::string>(
            2, "1: FC-C001: the path: expected a file or a directory, got nothing of that name"));
}

TEST_CASE("every case file rule has a code in order, a name and a template of its kind") {
  std::string last;
  for (const Rule* rule : case_file_rules()) {
    CAPTURE(rule->code);
    CHECK(rule->code.starts_with("FC-C"));
    CHECK(std::string(rule->code) > last);
    last = rule->code;
    CHECK(rule->severity == Severity::kError);
    for (const char* placeholder : {"{where}", "{expected}", "{got}"}) {
      CHECK(rule->message.find(placeholder) != std::string_view::npos);
    }
    CHECK(std::all_of(rule->name.begin(), rule->name.end(),
                      [](char c) { return (c >= 'a' && c <= 'z') || c == '-'; }));
    CHECK_FALSE(rule->why.empty());
    CHECK_FALSE(rule->fix.empty());
  }
  CHECK(case_file_rules().size() == 34);
}

TEST_CASE("a complaint keeps its facts as arguments and can be read back") {
  const LoadResult result =
      load_text(document_with("[4, 2, 64]", "[4, 2.7, 64]"), "case.json", false);
  REQUIRE(result.complaints.size() == 1);
  const Finding& finding = result.complaints[0].finding;
  CHECK(finding.where == "/tensors/q/shape/1");
  std::vector<FindingArg> args;
  REQUIRE(match_template(finding.rule->message, finding.message, args));
  REQUIRE(args.size() == finding.args.size());
  for (size_t i = 0; i < args.size(); ++i) {
    CHECK(args[i].name == finding.args[i].name);
    CHECK(args[i].value == finding.args[i].value);
  }
}

}  // namespace
}  // namespace flashcheck
