#include "src/map/map_text.h"

#include <doctest/doctest.h>

#include <filesystem>
#include <sstream>
#include <string>

#include "src/contract/contract.h"
#include "src/inputs/inputs.h"
#include "src/load/load.h"
#include "src/map/map_words.h"
#include "tests/golden.h"

namespace flashcheck {
namespace {

std::string text_of(const Case& c, int width) {
  const Outcome outcome = check_contract(c);
  const Inputs small = make_inputs(c, /*with_data=*/false);
  const LaunchParams* launch = outcome.launch ? &*outcome.launch : nullptr;
  return map_text(make_kv_map(c, launch, &small, {}), width);
}

}  // namespace

TEST_CASE("maps in words and pictures, wide and narrow") {
  int num_maps = 0;
  for (const std::string name : {"batch", "flat", "layouts", "paged"}) {
    const LoadResult loaded =
        load_file(std::string(FLASHCHECK_SOURCE_DIR) + "/tests/map/fixtures/" + name + ".json");
    REQUIRE(loaded.complaints.empty());
    for (const int width : {100, 50}) {
      std::string text;
      for (const Case& c : loaded.cases) {
        text += "=== " + c.id + "\n" + text_of(c, width);
        ++num_maps;
      }
      check_golden("map/" + name + "-" + std::to_string(width) + ".txt", text);
    }
  }
  CHECK(num_maps > 20);
}

TEST_CASE("a sequence is one line where that fits") {
  const LoadResult loaded =
      load_file(std::string(FLASHCHECK_SOURCE_DIR) + "/tests/map/fixtures/paged.json");
  for (const Case& c : loaded.cases) {
    if (c.id != "paged/row-too-short") continue;
    CHECK(text_of(c, 100).starts_with(
        "MAP  sequence 0   0..31 -> page 1   32..63 -> page 3   64..99 -> past the row\n"));
  }
}

TEST_CASE("cells stay whole as long as they fit a line") {
  CHECK(laid_out("MAP  ", {"one", "two", "three"}, 40) == "MAP  one   two   three\n");
  CHECK(laid_out("MAP  ", {"one", "two", "three"}, 14) == "MAP  one   two\n     three\n");
  CHECK(laid_out("a long prefix      ", {"cell"}, 20) == "a long prefix\n             cell\n");
  CHECK(laid_out("MAP  ", {"three words here"}, 16) == "MAP  three words\n     here\n");
  CHECK(laid_out("MAP  ", {"one", "three words here"}, 16) ==
        "MAP  one\n     three words\n     here\n");
}

TEST_CASE("bytes in words") {
  CHECK(bytes_words({4096, 8192, {}}) == "4096..12287");
  CHECK(bytes_words({0, 128, {{64, 256}}}) == "0..16255 (64 runs of 128, every 256)");
  CHECK(bytes_words({0, 8, {{3, 1000}, {2, 300}}}) ==
        "0..2307 (3 x 2 runs of 8, every 1000 and 300)");
  CHECK(bytes_words({7, 1, {}}) == "7");
  CHECK(bytes_words({7, 0, {}}) == "none");
}

}  // namespace flashcheck
