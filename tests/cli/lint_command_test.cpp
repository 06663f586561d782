#include <doctest/doctest.h>

#include <string>

#include "tests/cli/program.h"
#include "tests/golden.h"

namespace {

const std::string kLints = "tests/lint/fixtures/";

bool holds(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("what lint prints, wide and narrow") {
  check_golden("lint/typical.txt", flashcheck_program("lint " + kLints + "typical.json").whole());
  check_golden("lint/typical-50.txt",
               flashcheck_program("lint " + kLints + "typical.json", "COLUMNS=50").whole());
  check_golden(
      "lint/two-files.txt",
      flashcheck_program("lint " + kLints + "typical.json " + kLints + "refused.json").whole());
}

TEST_CASE("files are judged one by one, or together") {
  const std::string files = "cases/numeric-paged.json cases/numeric-fused-qkv.json";
  const ProgramResult apart = flashcheck_program("lint " + files);
  CHECK(holds(apart.out, "cases/numeric-paged.json:1: FC-L403: "));
  CHECK(holds(apart.out, " 2 files "));
  const ProgramResult together = flashcheck_program("lint --together " + files);
  CHECK_FALSE(holds(together.out, "FC-L403"));
  CHECK(holds(together.out, " 1 suite "));
}

TEST_CASE("the shipped cases together are clean") {
  const ProgramResult result = flashcheck_program("lint --strict --together cases/*.json");
  CHECK(result.status == 0);
  CHECK(holds(result.out, ", 0 blind spots"));
}

TEST_CASE("how lint ends") {
  CHECK(flashcheck_program("lint " + kLints + "typical.json").status == 0);
  CHECK(flashcheck_program("lint --strict " + kLints + "typical.json").status == 1);
  CHECK(flashcheck_program("lint").status == 2);
  CHECK(flashcheck_program("lint --strict tests/cli/fixtures/broken.json").status == 3);
  CHECK(flashcheck_program("lint " + kLints + "refused.json").status == 4);
  CHECK(flashcheck_program("lint " + kLints + "typical.json -k nothing-fits").status == 4);
}
