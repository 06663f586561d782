#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "tests/cli/program.h"

namespace {

const std::string kFixtures = "tests/cli/fixtures/";

}  // namespace

TEST_CASE("the exit status says what happened, and the gravest wins") {
  struct Row {
    std::string arguments;
    int status;
  };
  const std::vector<Row> rows{
      {"run " + kFixtures + "sound.json", 0},
      {"check " + kFixtures + "sound.json", 0},
      {"run " + kFixtures + "refused.json", 1},
      {"run " + kFixtures + "demands.json -k three-kv-heads", 0},
      {"run " + kFixtures + "demands.json -k wrong-text", 1},
      {"run " + kFixtures + "demands.json -k 'demands/*'", 1},
      {"", 2},
      {"run", 2},
      {"dance", 2},
      {"run --no-such-option " + kFixtures + "sound.json", 2},
      {"run --format yaml " + kFixtures + "sound.json", 2},
      {"run --output junit " + kFixtures + "sound.json", 2},
      {"run --max-memory lots " + kFixtures + "sound.json", 2},
      {"run --jobs 0 " + kFixtures + "sound.json", 2},
      {"explain FC-E9999", 2},
      {"run no-such-file.json", 3},
      {"run " + kFixtures + "broken.json", 3},
      {"run " + kFixtures + "broken.json " + kFixtures + "refused.json", 3},
      {"run -k nothing-fits " + kFixtures + "sound.json", 4},
      {"run -k nothing-fits --allow-empty " + kFixtures + "sound.json", 0},
      {"run --max-work 10 " + kFixtures + "sound.json", 4},
      {"run --max-memory 1KiB " + kFixtures + "sound.json", 4},
      {"run --require cuda:999 " + kFixtures + "sound.json", 5},
      {"run --require abacus " + kFixtures + "sound.json", 5},
      {"run --device cuda:999 " + kFixtures + "sound.json", 5},
      {"run --device cpu " + kFixtures + "sound.json", 0},
      {"run --device auto " + kFixtures + "sound.json", 0},
      {"run --device gpu " + kFixtures + "sound.json", 2},
      {"check --device cpu " + kFixtures + "sound.json", 2},
      {"run --require cpu " + kFixtures + "sound.json", 0},
      {"run " + kFixtures + "sound.json >/dev/full", 70},
      {"run --output junit:/no/such/folder/report.xml " + kFixtures + "sound.json", 2},
      {"run --output junit:/dev/full " + kFixtures + "sound.json", 70},
      {"run --list -k nothing-fits " + kFixtures + "sound.json", 4},
      // Views that cost no storage must cost neither memory nor a division by their stride.
      {"check " + kFixtures + "one-key-of-stride-zero.json", 0},
      {"check " + kFixtures + "expanded-table.json", 0},
      {"map " + kFixtures + "expanded-table.json", 0},
      {"--help", 0},
      {"run --help", 0},
      {"--version", 0},
      {"rules", 0},
      {"backends", 0},
      {"backends cuda", 2},
      {"explain FC-E001", 0},
  };
  for (const Row& row : rows) {
    const ProgramResult result = flashcheck_program(row.arguments);
    CAPTURE(row.arguments);
    CAPTURE(result.err);
    CHECK(result.status == row.status);
  }
}

TEST_CASE("wrong usage speaks on stderr alone, and results on stdout alone") {
  const ProgramResult wrong = flashcheck_program("run --jbos 2 x.json");
  CHECK(wrong.out.empty());
  CHECK(wrong.err ==
        "flashcheck: unknown: --jbos; did you mean --jobs?\nTry `flashcheck run --help`.\n");
  const ProgramResult right = flashcheck_program("run " + kFixtures + "refused.json");
  CHECK(right.err.empty());
  CHECK_FALSE(right.out.empty());
}
