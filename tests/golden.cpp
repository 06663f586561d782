#include "tests/golden.h"

#include <doctest/doctest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

void check_golden(const std::string& name, const std::string& actual) {
  const std::filesystem::path path =
      std::filesystem::path(FLASHCHECK_SOURCE_DIR) / "tests" / "golden" / name;
  if (std::getenv("UPDATE_GOLDEN")) {
    std::filesystem::create_directories(path.parent_path());
    std::ofstream(path, std::ios::binary) << actual;
    return;
  }
  std::ifstream file(path, std::ios::binary);
  std::stringstream expected;
  expected << file.rdbuf();
  INFO("golden file ", path.string(), " (UPDATE_GOLDEN=1 rewrites it)");
  CHECK(actual == expected.str());
}
