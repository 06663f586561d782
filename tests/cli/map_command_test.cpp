#include <doctest/doctest.h>

#include <string>

#include "tests/cli/program.h"

namespace {

const std::string kMaps = "tests/map/fixtures/";

bool holds(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("a map begins with the wrapper's word and follows with what can be drawn") {
  const ProgramResult refused = flashcheck_program("map " + kMaps + "paged.json -k refused");
  CHECK(refused.status == 0);
  const std::string head = kMaps + "paged.json:";
  CHECK(refused.out.starts_with(head));
  CHECK(holds(refused.out.substr(0, refused.out.find('\n')),
              ": FC-E501: page_block_size 64 does not match k shape [8, 32, 2, 64]"));
  CHECK(holds(refused.out, "\nMAP  sequence 0   0..31 -> page 6 (shared)"));

  const ProgramResult sound = flashcheck_program("map " + kMaps + "paged.json -k window");
  CHECK(holds(sound.out, ": ok: candle-flash-attn accepts this call"));
  const ProgramResult hazard = flashcheck_program("map " + kMaps + "paged.json -k row-too-short");
  CHECK(hazard.status == 0);
  CHECK(holds(hazard.out, ": FC-H303: "));
}

TEST_CASE("what is cut is counted, and --all shows it") {
  const ProgramResult cut = flashcheck_program("map " + kMaps + "batch.json");
  CHECK(holds(cut.out, "MAP  and 4 more sequences (--all shows them)\n"));
  CHECK_FALSE(holds(cut.out, "sequence 16"));
  const ProgramResult all = flashcheck_program("map --all " + kMaps + "batch.json");
  CHECK(holds(all.out, "MAP  sequence 19 "));
  CHECK(holds(all.out, "row 150  "));
  CHECK_FALSE(holds(all.out, "more"));
}

TEST_CASE("how map ends") {
  CHECK(flashcheck_program("map").status == 2);
  CHECK(flashcheck_program("map tests/cli/fixtures/broken.json").status == 3);
  CHECK(flashcheck_program("map " + kMaps + "no-such-file.json").status == 3);
  const ProgramResult nothing = flashcheck_program("map " + kMaps + " -k nothing-fits");
  CHECK(nothing.status == 4);
  CHECK(nothing.out.empty());
}
