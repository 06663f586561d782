#include <doctest/doctest.h>

#include <memory_resource>
#include <string>
#include <vector>

#include "src/load/json_document.h"
#include "src/load/merge_patch.h"
#include "src/spec/nearest.h"

namespace flashcheck {
namespace {

const JsonValue* parse(std::string_view text, std::pmr::memory_resource& arena) {
  std::vector<JsonProblem> problems;
  const JsonValue* value = parse_json(text, JsonLimits{}, arena, problems);
  REQUIRE(value != nullptr);
  REQUIRE(problems.empty());
  return value;
}

/// Compact JSON, members in order.
std::string written(const JsonValue& value) {
  switch (value.kind) {
    case JsonValue::Kind::kNull:
      return "null";
    case JsonValue::Kind::kBool:
      return value.boolean ? "true" : "false";
    case JsonValue::Kind::kInteger:
      return std::to_string(value.integer);
    case JsonValue::Kind::kUnsigned:
      return std::to_string(value.unsigned_integer);
    case JsonValue::Kind::kReal:
      return std::to_string(value.real);
    case JsonValue::Kind::kString:
      return in_quotes(value.text);
    default:
      break;
  }
  std::string text(1, value.is_array() ? '[' : '{');
  for (const JsonValue* child : value.children) {
    if (text.size() > 1) text += ',';
    if (value.is_object()) text += in_quotes(child->key) + ":";
    text += written(*child);
  }
  return text + (value.is_array() ? ']' : '}');
}

TEST_CASE("numbers keep their kind") {
  std::pmr::monotonic_buffer_resource arena;
  const auto kind = [&](const char* text) { return parse(text, arena)->kind; };
  CHECK(kind("9223372036854775807") == JsonValue::Kind::kInteger);
  CHECK(kind("-9223372036854775808") == JsonValue::Kind::kInteger);
  CHECK(kind("9223372036854775808") == JsonValue::Kind::kUnsigned);
  CHECK(kind("18446744073709551615") == JsonValue::Kind::kUnsigned);
  CHECK(kind("18446744073709551616") == JsonValue::Kind::kReal);
  CHECK(kind("-9223372036854775809") == JsonValue::Kind::kReal);
  CHECK(kind("1.0") == JsonValue::Kind::kReal);
  CHECK(kind("1e0") == JsonValue::Kind::kReal);
  CHECK(kind("-0") == JsonValue::Kind::kReal);
  CHECK(kind("0") == JsonValue::Kind::kInteger);
}

TEST_CASE("every value ends where its text ends") {
  std::pmr::monotonic_buffer_resource arena;
  const std::string text =
      "{ \"a\" : [ 1 , 2.5e1,\n true ,null, \"x\\n\" ] , \"b\" :{ } , \"c\":7}";
  const JsonValue& root = *parse(text, arena);
  const auto ends_with = [&](const JsonValue& value, std::string_view token) {
    return std::string_view(text).substr(0, value.end).ends_with(token);
  };
  const JsonValue& a = *root.find("a");
  CHECK(ends_with(a, "["));
  CHECK(ends_with(*a.children[0], " 1"));
  CHECK(ends_with(*a.children[1], " 2.5e1"));
  CHECK(ends_with(*a.children[2], "true"));
  CHECK(ends_with(*a.children[3], "null"));
  CHECK(ends_with(*a.children[4], "\"x\\n\""));
  CHECK(ends_with(*root.find("b"), "{"));
  CHECK(ends_with(*root.find("c"), ":7"));
  CHECK(parse("7", arena)->end == 1);
  CHECK(parse(" 7 ", arena)->end == 2);
}

TEST_CASE("a pointer leads to its value") {
  std::pmr::monotonic_buffer_resource arena;
  const JsonValue& root = *parse(R"({"a": [[1, {"b/c~d": 2}]]})", arena);
  const JsonValue& inner = *root.find("a")->children[0]->children[1]->find("b/c~d");
  CHECK(pointer_of(root) == "");
  CHECK(pointer_of(inner) == "/a/0/1/b~1c~0d");
  CHECK(is_inside(inner, *root.find("a")));
  CHECK_FALSE(is_inside(*root.find("a"), inner));
}

TEST_CASE("limits hold, and say where") {
  std::pmr::monotonic_buffer_resource arena;
  const auto problem = [&](std::string_view text, const JsonLimits& limits) {
    std::vector<JsonProblem> problems;
    CHECK(parse_json(text, limits, arena, problems) == nullptr);
    REQUIRE(problems.size() == 1);
    return std::string(problems[0].rule->code) + " " + problems[0].where + ": expected " +
           problems[0].expected;
  };
  CHECK(problem("[[[1]]]", {.max_depth = 2}) == "FC-C004 : expected at most 2 levels");
  CHECK(problem("{\"a\": [1, 2, 3]}", {.max_values = 4}) ==
        "FC-C005 /a: expected at most 4 values in a document");
  CHECK(problem("[0, {\"a\": 1, \"b\": 2}]", {.max_keys = 1}) ==
        "FC-C005 /1: expected at most 1 keys in an object");
}

TEST_CASE("doubled keys are told in small and in large objects") {
  for (int keys : {3, 100}) {
    std::string text = "{";
    for (int i = 0; i < keys; ++i) text += "\"k" + std::to_string(i) + "\": 0, ";
    text += "\"k1\": 1}";
    std::pmr::monotonic_buffer_resource arena;
    std::vector<JsonProblem> problems;
    const JsonValue* root = parse_json(text, JsonLimits{}, arena, problems);
    REQUIRE(root != nullptr);
    REQUIRE(problems.size() == 1);
    CHECK(problems[0].where == "/k1");
    CHECK(root->find("k1")->integer == 0);
  }
}

TEST_CASE("a merge patch does what RFC 7396 shows") {
  struct Example {
    const char *target, *patch, *result;
  };
  // Its appendix A, all rows.
  const std::vector<Example> examples{
      {R"({"a":"b"})", R"({"a":"c"})", R"({"a":"c"})"},
      {R"({"a":"b"})", R"({"b":"c"})", R"({"a":"b","b":"c"})"},
      {R"({"a":"b"})", R"({"a":null})", R"({})"},
      {R"({"a":"b","b":"c"})", R"({"a":null})", R"({"b":"c"})"},
      {R"({"a":["b"]})", R"({"a":"c"})", R"({"a":"c"})"},
      {R"({"a":"c"})", R"({"a":["b"]})", R"({"a":["b"]})"},
      {R"({"a":{"b":"c"}})", R"({"a":{"b":"d","c":null}})", R"({"a":{"b":"d"}})"},
      {R"({"a":[{"b":"c"}]})", R"({"a":[1]})", R"({"a":[1]})"},
      {R"(["a","b"])", R"(["c","d"])", R"(["c","d"])"},
      {R"({"a":"b"})", R"(["c"])", R"(["c"])"},
      {R"({"a":"foo"})", R"(null)", R"(null)"},
      {R"({"a":"foo"})", R"("bar")", R"("bar")"},
      {R"({"e":null})", R"({"a":1})", R"({"e":null,"a":1})"},
      {R"([1,2])", R"({"a":"b","c":null})", R"({"a":"b"})"},
      {R"({})", R"({"a":{"bb":{"ccc":null}}})", R"({"a":{"bb":{}}})"},
  };
  for (const Example& example : examples) {
    CAPTURE(example.target);
    CAPTURE(example.patch);
    std::pmr::monotonic_buffer_resource arena;
    const JsonValue* merged =
        merge_patch(parse(example.target, arena), *parse(example.patch, arena), arena);
    CHECK(written(*merged) == example.result);
  }
}

TEST_CASE("the nearest word is the one a person means") {
  const std::vector<std::string_view> words{"none", "candle-flash-attn", "candle-flash-attn-v3"};
  CHECK(nearest_word("candle", words) == "candle-flash-attn");
  CHECK(nearest_word("candle-flash-attn-v2", words) == "candle-flash-attn-v3");
  CHECK(nearest_word("NONE", words) == "none");
  CHECK(nearest_word("", words) == "none");
  CHECK(edit_distance("kitten", "sitting") == 3);
  CHECK(edit_distance("", "abc") == 3);
  CHECK(edit_distance("same", "same") == 0);
}

TEST_CASE("what is shown of a text is short and printable") {
  CHECK(in_quotes("a\"b\\c\n\x01\x7f") == "\"a\\\"b\\\\c\\n\\u0001\\u007f\"");
  CHECK(in_quotes("\xFFz\xC3\xA9") == "\"\\xffz\xC3\xA9\"");
  CHECK(in_quotes("abcdef", 3) == "\"abc\"...");
  CHECK(in_quotes("ab\xC3\xA9", 3) == "\"ab\xC3\xA9\"");
}

}  // namespace
}  // namespace flashcheck
