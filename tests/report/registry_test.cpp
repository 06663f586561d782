#include <doctest/doctest.h>

#include <algorithm>
#include <cctype>
#include <set>

#include "src/report/rule_docs.h"
#include "src/report/rule_registry.h"

using namespace flashcheck;

namespace {

bool is_kebab_case(std::string_view name) {
  return !name.empty() && std::all_of(name.begin(), name.end(), [](unsigned char c) {
    return std::islower(c) || std::isdigit(c) || c == '-';
  });
}

}  // namespace

TEST_CASE("codes and names are unique, ascend, and every rule says why and what to do") {
  std::set<std::string_view> codes, names;
  for (const RuleFamily& family : rule_families()) {
    CHECK_FALSE(family.rules.empty());
    std::string_view previous;
    for (const Rule* rule : family.rules) {
      CAPTURE(rule->code);
      CHECK(rule->code.starts_with(family.prefix));
      CHECK(rule->code.size() == 7);
      CHECK(previous < rule->code);
      previous = rule->code;
      CHECK(codes.insert(rule->code).second);
      CHECK(names.insert(rule->name).second);
      CHECK(is_kebab_case(rule->name));
      CHECK_FALSE(rule->message.empty());
      CHECK_FALSE(rule->why.empty());
      CHECK_FALSE(rule->fix.empty());
      CHECK_FALSE(rule->source.empty());
    }
  }
}

TEST_CASE("a rule is found by code in any case, by name, and by its message") {
  const Rule* rule = find_rule("fc-e001");
  REQUIRE(rule);
  CHECK(find_rule(rule->name) == rule);
  CHECK_FALSE(find_rule("FC-E999"));

  const auto matches =
      match_message("flash-attn-varlen paged expects k/v tensors of rank 4 (k: 3, v: 3)");
  REQUIRE(matches.size() == 1);
  CHECK(matches[0].rule->code.starts_with("FC-E"));
  REQUIRE(matches[0].args.size() == 2);
  CHECK(matches[0].args[0].value == "3");
}

TEST_CASE("a pasted message may come with quotes and a prefix") {
  CHECK(match_message("Error: seqlens_q must be a cuda tensor\n").size() == 1);
  CHECK(match_message("\"no cpu support for flash-attn\"").size() == 1);
  CHECK(match_message("thread 'main' panicked at src/lib.rs:86:12: attempt to calculate the "
                      "remainder with a divisor of zero")
            .size() >= 1);
  CHECK(match_message("the weather is fine").empty());
}

TEST_CASE("what stands on a screen leads to its rule") {
  CHECK(find_rule("e415") == find_rule("FC-E415"));
  CHECK(match_message(
            "WithBacktrace { inner: Msg(\"page_block_size 16 does not match k shape [4, 32, "
            "2, 64]\"), backtrace: [] }")
            .size() == 1);
  CHECK(match_message("seqlens_k must be a cuda tensor\n   0: candle_core::error::bt").size() == 1);
  const Symptom* symptom =
      find_symptom("DriverError(CUDA_ERROR_MISALIGNED_ADDRESS, \"misaligned address\")");
  REQUIRE(symptom);
  for (std::string_view code : symptom->codes) CHECK(find_rule(code));
  symptom = find_symptom("an illegal memory access was encountered");
  REQUIRE(symptom);
  for (std::string_view code : symptom->codes) CHECK(find_rule(code));
  CHECK_FALSE(find_symptom("out of memory"));
  CHECK(search_rules("page_block_size").size() > 2);
  CHECK(search_rules("no such words").empty());
}

TEST_CASE("a mistyped code or name leads to the nearest") {
  CHECK(nearest_rule("FC-E01").has_value());
  CHECK_FALSE(nearest_rule("something else altogether").has_value());
}

TEST_CASE("every rule has a page") {
  for (const RuleFamily& family : rule_families()) {
    for (const Rule* rule : family.rules) {
      CHECK(explain_rule(*rule, 80).find(rule->name) != std::string::npos);
    }
  }
}
