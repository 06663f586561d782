#include "tests/cli/program.h"

#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

namespace fs = std::filesystem;

namespace {

std::string read_whole(const fs::path& path) {
  std::stringstream text;
  text << std::ifstream(path, std::ios::binary).rdbuf();
  return text.str();
}

}  // namespace

std::string ProgramResult::whole() const {
  return fmt::format("--- stdout\n{}--- stderr\n{}--- status {}\n", out, err, status);
}

ProgramResult flashcheck_program(const std::string& arguments, const std::string& environment) {
  const fs::path folder = fs::temp_directory_path() / fmt::format("flashcheck-test-{}", getpid());
  fs::create_directories(folder);
  const std::string out = (folder / "out").string(), err = (folder / "err").string();
  // The redirections come first, so that a test may send stdout elsewhere.
  const std::string command =
      fmt::format("cd '{}' && {{ {} '{}' {}; }} >'{}' 2>'{}'", FLASHCHECK_SOURCE_DIR, environment,
                  FLASHCHECK_PROGRAM, arguments, out, err);
  const int raw = std::system(command.c_str());
  ProgramResult result;
  result.status = WIFEXITED(raw) ? WEXITSTATUS(raw) : 128 + WTERMSIG(raw);
  result.out = read_whole(out);
  result.err = read_whole(err);
  fs::remove_all(folder);
  return result;
}
