#include <doctest/doctest.h>

#include <fstream>
#include <regex>
#include <set>
#include <sstream>
#include <string>

#include "tests/cli/program.h"

namespace {

std::set<std::string> options_in(const std::string& text) {
  static const std::regex kOption("--[a-z][a-z-]*");
  std::set<std::string> options;
  for (std::sregex_iterator it(text.begin(), text.end(), kOption), end; it != end; ++it) {
    options.insert(it->str());
  }
  return options;
}

std::string man_page() {
  std::stringstream text;
  text << std::ifstream(FLASHCHECK_SOURCE_DIR "/docs/flashcheck.1").rdbuf();
  return std::regex_replace(text.str(), std::regex(R"(\\-)"), "-");
}

}  // namespace

TEST_CASE("the man page and --help know the same options") {
  std::string help;
  for (const std::string command :
       {"run", "check", "map", "lint", "layouts", "backends", "explain", "rules"}) {
    help += flashcheck_program(command + " --help").out;
  }
  std::set<std::string> known = options_in(help);
  known.erase("--help");
  CHECK(known.size() > 8);
  CHECK(options_in(man_page()) == known);
}
