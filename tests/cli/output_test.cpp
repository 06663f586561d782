#include <doctest/doctest.h>
#include <sys/stat.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <regex>
#include <sstream>
#include <string>

#include "tests/cli/program.h"
#include "tests/golden.h"

namespace fs = std::filesystem;

namespace {

const std::string kFixtures = "tests/cli/fixtures/";

/// Times differ from run to run; nothing else may.
std::string without_times(const std::string& text) {
  const std::string jsonl =
      std::regex_replace(text, std::regex("\"seconds\":[-+.e0-9]+"), "\"seconds\":0");
  return std::regex_replace(jsonl, std::regex(" time=\"[.0-9]+\""), " time=\"0\"");
}

}  // namespace

TEST_CASE("whole outputs") {
  check_golden("cli/help.txt", flashcheck_program("--help").whole());
  check_golden("cli/help-run.txt", flashcheck_program("run --help").whole());
  check_golden("cli/help-check.txt", flashcheck_program("check --help").whole());
#ifndef FLASHCHECK_CUDA  // with it they depend on the machine
  check_golden("cli/backends.txt", flashcheck_program("backends").whole());
  check_golden("cli/backends-narrow.txt", flashcheck_program("backends", "COLUMNS=50").whole());
  check_golden("cli/no-cuda.txt",
               flashcheck_program("run --device cuda " + kFixtures + "sound.json").whole());
  check_golden("cli/no-cuda-required.txt",
               flashcheck_program("run --require cuda:1 " + kFixtures + "sound.json").whole());
#endif
  check_golden("cli/no-device.txt",
               flashcheck_program("run --device gpu " + kFixtures + "sound.json").whole());
  check_golden("cli/no-command.txt", flashcheck_program("").whole());
  check_golden("cli/refused.txt", flashcheck_program("run " + kFixtures + "refused.json").whole());
  check_golden("cli/refused-narrow.txt",
               flashcheck_program("run " + kFixtures + "refused.json", "COLUMNS=50").whole());
  check_golden("cli/broken.txt", flashcheck_program("run " + kFixtures + "broken.json").whole());
  check_golden("cli/demands.txt",
               flashcheck_program("check " + kFixtures + "demands.json").whole());
  check_golden("cli/list.txt",
               flashcheck_program("run --list " + kFixtures + "demands.json").whole());
  check_golden("cli/nothing-fits.txt",
               flashcheck_program("run -k nothing-fits " + kFixtures + "sound.json").whole());
  check_golden("cli/explain-message.txt",
               flashcheck_program("explain 'flash-attn-varlen paged expects k/v tensors of rank 4 "
                                  "(k: 3, v: 3)'")
                   .whole());
  check_golden("cli/explain-unknown.txt", flashcheck_program("explain FC-E0111").whole());
  check_golden(
      "cli/jsonl.txt",
      without_times(
          flashcheck_program("check --format jsonl " + kFixtures + "demands.json").whole()));
  check_golden("cli/junit.txt",
               without_times(flashcheck_program("check --format junit " + kFixtures +
                                                "demands.json " + kFixtures + "broken.json")
                                 .whole()));
}

TEST_CASE("any number of jobs gives the same bytes") {
  for (const std::string format : {"text --verbose", "jsonl", "junit"}) {
    const std::string arguments =
        "run cases/numeric-causal.json cases/contract-order.json --format " + format;
    const ProgramResult one = flashcheck_program(arguments + " --jobs 1");
    const ProgramResult many = flashcheck_program(arguments + " --jobs 5");
    CHECK(one.out.size() > 1000);
    CHECK(without_times(one.out) == without_times(many.out));
  }
}

TEST_CASE("colour is for terminals, and for those who ask") {
  const std::string arguments = "run " + kFixtures + "refused.json";
  const std::string escape = "\x1b[";
  CHECK(flashcheck_program(arguments).out.find(escape) == std::string::npos);
  CHECK(flashcheck_program(arguments + " --color always").out.find(escape) != std::string::npos);
  CHECK(flashcheck_program(arguments + " --color always", "NO_COLOR=1").out.find(escape) !=
        std::string::npos);
}

TEST_CASE("reports go to files beside stdout's, whole or not at all") {
  const fs::path folder = fs::temp_directory_path() / "flashcheck-output-test";
  fs::remove_all(folder);
  fs::create_directories(folder);
  const std::string xml = (folder / "report.xml").string();
  const std::string lines = (folder / "report.jsonl").string();
  const ProgramResult result = flashcheck_program(
      "check " + kFixtures + "demands.json --output junit:" + xml + " --output jsonl:" + lines);
  CHECK(result.out.find("2 passed, 3 failed, 0 skipped") != std::string::npos);
  std::stringstream text;
  text << std::ifstream(xml).rdbuf();
  CHECK(text.str().starts_with("<?xml"));
  CHECK(text.str().ends_with("</testsuites>\n"));
  CHECK(fs::file_size(lines) > 0);
  CHECK(std::distance(fs::directory_iterator(folder), fs::directory_iterator()) == 2);
  fs::remove_all(folder);
}

TEST_CASE("a report never takes the place of a device, a pipe or a link") {
  const fs::path folder = fs::temp_directory_path() / "flashcheck-special-output-test";
  fs::remove_all(folder);
  fs::create_directories(folder);
  const std::string link = (folder / "link.xml").string(), pipe = (folder / "pipe").string();
  std::ofstream(folder / "real.xml") << "old";
  fs::create_symlink("real.xml", link);
  REQUIRE(mkfifo(pipe.c_str(), 0600) == 0);
  const std::string check = "check " + kFixtures + "sound.json ";
  CHECK(flashcheck_program(check + "--output junit:" + link).status == 0);
  CHECK(fs::is_symlink(link));
  CHECK(fs::file_size(folder / "real.xml") > 100);
  // The reader keeps the writer from waiting for one for ever.
  CHECK(flashcheck_program(check + "--output junit:" + pipe + " & cat " + pipe).out.find("<?xml") !=
        std::string::npos);
  CHECK(fs::is_fifo(pipe));
  CHECK(flashcheck_program(check + "--output junit:/dev/full").status == 70);
  CHECK(fs::is_character_file("/dev/full"));
  CHECK(flashcheck_program(check + "--output junit:" + folder.string()).status == 2);
  fs::remove_all(folder);
}

TEST_CASE("a case comes from stdin too") {
  const ProgramResult result = flashcheck_program("run - <" + kFixtures + "refused.json");
  CHECK(result.status == 1);
  CHECK(result.out.starts_with("-:1: FC-E"));
}
