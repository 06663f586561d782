#include <doctest/doctest.h>

#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string>

#include "tests/cli/program.h"

namespace {

const std::string kReadme = FLASHCHECK_SOURCE_DIR "/README.md";
const std::string kOpen = "```console\n", kPrompt = "$ ./bootstrap ", kClose = "```\n";

std::string read_readme() {
  std::stringstream text;
  text << std::ifstream(kReadme).rdbuf();
  return text.str();
}

}  // namespace

// A transcript is a console block: a prompt, a command, and all that it prints.
TEST_CASE("the transcripts in README.md are what the program prints") {
  const std::string readme = read_readme();
  std::string current;
  size_t at = 0;
  int transcripts = 0;
  for (size_t open = readme.find(kOpen); open != std::string::npos; open = readme.find(kOpen, at)) {
    const size_t begin = open + kOpen.size();
    const size_t end = readme.find(kClose, begin);
    const size_t line_end = readme.find('\n', begin);
    REQUIRE(end != std::string::npos);
    REQUIRE(readme.compare(begin, kPrompt.size(), kPrompt) == 0);
    const std::string arguments =
        readme.substr(begin + kPrompt.size(), line_end - begin - kPrompt.size());
    current += readme.substr(at, line_end + 1 - at) +
               flashcheck_program(arguments, "FLASHCHECK_PROGRAM=./bootstrap").out;
    at = end;
    ++transcripts;
  }
  current += readme.substr(at);
  CHECK(transcripts > 0);
  if (std::getenv("UPDATE_GOLDEN")) {
    std::ofstream(kReadme) << current;
  } else {
    CHECK(readme == current);
  }
}
