#include "src/spec/finding.h"

#include <doctest/doctest.h>

#include <stdexcept>

using flashcheck::fill_template;
using flashcheck::FindingArg;
using flashcheck::match_template;

TEST_CASE("a template is filled by name") {
  CHECK(fill_template("q {q} and k {k}", {{"k", "[1]"}, {"q", "[2, 3]"}}) == "q [2, 3] and k [1]");
  CHECK(fill_template("Cuda {{ gpu_id: {id} }}", {{"id", "0"}}) == "Cuda { gpu_id: 0 }");
  CHECK_THROWS_AS(fill_template("{missing}", {}), std::logic_error);
}

TEST_CASE("a message is read back through its template") {
  std::vector<FindingArg> args;
  REQUIRE(match_template("(k: {k_rank}, v: {v_rank})", "(k: 3, v: 4)", args));
  REQUIRE(args.size() == 2);
  CHECK(args[0].name == "k_rank");
  CHECK(args[0].value == "3");
  CHECK(args[1].value == "4");
}

TEST_CASE("a message that ends in a placeholder is read to its end") {
  std::vector<FindingArg> args;
  REQUIRE(match_template("contiguous {strides}", "contiguous [2048, 1, 256, 4]", args));
  CHECK(args[0].value == "[2048, 1, 256, 4]");
}

TEST_CASE("what does not fit a template is refused") {
  std::vector<FindingArg> args;
  CHECK_FALSE(match_template("(k: {k_rank})", "(v: 3)", args));
  CHECK_FALSE(match_template("(k: {k_rank})", "(k: )", args));
  CHECK_FALSE(match_template("(k: {k_rank})", "(k: 3", args));
  CHECK_FALSE(match_template("plain", "plain and more", args));
}
