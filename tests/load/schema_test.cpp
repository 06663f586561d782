#include <doctest/doctest.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "src/layouts/layout.h"
#include "src/load/case_keys.h"
#include "src/load/expect_reader.h"
#include "src/load/load.h"
#include "tests/load/complaint_lines.h"

namespace flashcheck {
namespace {

using Json = nlohmann::json;
using Names = std::set<std::string>;

std::string text_of(const std::string& path) {
  std::ifstream file(FLASHCHECK_SOURCE_DIR "/" + path, std::ios::binary);
  REQUIRE(file.good());
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

const Json& schema() {
  static const Json parsed = Json::parse(text_of("docs/case.schema.json"));
  return parsed;
}
const Json& definition(const std::string& name) { return schema().at("$defs").at(name); }

Names keys_of(const Json& object) {
  CHECK(object.at("additionalProperties") == false);
  Names names;
  for (const auto& [key, value] : object.at("properties").items()) names.insert(key);
  return names;
}
/// The words of an enum, without the null that stands for none.
Names words_of(const Json& definition) {
  Names names;
  for (const Json& word : definition.at("enum")) {
    if (!word.is_null()) names.insert(word.get<std::string>());
  }
  return names;
}
Names names(std::span<const std::string_view> words) { return {words.begin(), words.end()}; }
Names names(std::initializer_list<std::span<const std::string_view>> lists) {
  Names all;
  for (const auto& list : lists) all.insert(list.begin(), list.end());
  return all;
}

TEST_CASE("the schema has the loader's keys, all of them and no others") {
  CHECK(keys_of(schema()) == names(kDocumentKeys));
  CHECK(keys_of(definition("test")) == names(kTestKeys));
  CHECK(keys_of(definition("change")) == names(kChangeKeys));
  CHECK(keys_of(definition("storage")) == names(kStorageKeys));
  CHECK(keys_of(definition("tensors")) == names(kTensorNames));
  CHECK(keys_of(definition("tensor")) == names(kTensorKeys));
  CHECK(keys_of(definition("layout")) == names(kLayoutKeys));
  CHECK(keys_of(definition("from")) == names(kFromKeys));
  CHECK(keys_of(definition("csr")) == names(kCsrKeys));
  CHECK(keys_of(definition("fill")) ==
        names({kNormalKeys, kUniformKeys, kConstantKeys, kRampKeys}));
  CHECK(keys_of(definition("args")) == names(kArgKeys));
  CHECK(keys_of(definition("arithmetic")) == names(kArithmeticKeys));
  CHECK(keys_of(definition("expect")) == names(kExpectKeys));
  CHECK(keys_of(definition("launch")) ==
        names({launch_keys(Wrapper::kCandleFlashAttn), launch_keys(Wrapper::kCandleFlashAttnV3)}));
}

TEST_CASE("the schema has the loader's words") {
  CHECK(words_of(definition("wrapper")) == names(kWrappers));
  CHECK(words_of(definition("tensor").at("properties").at("dtype")) == names(kDtypes));
  CHECK(words_of(definition("tensor").at("properties").at("axes").at("items")) == names(kAxes));
  CHECK(words_of(definition("fill").at("properties").at("generator")) == names(kGenerators));
  CHECK(words_of(definition("fill").at("properties").at("order")) == names(kOrders));
  CHECK(words_of(definition("arithmetic").at("properties").at("accumulate")) ==
        names(kAccumulates));
  CHECK(words_of(definition("arithmetic").at("properties").at("p")) == names(kPs));
  CHECK(words_of(definition("arithmetic").at("properties").at("tanh")) == names(kTanhs));
  CHECK(words_of(definition("expect").at("properties").at("verdict")) == names(kVerdicts));
  Names known_layouts;
  for (const Layout& layout : layouts()) known_layouts.emplace(layout.name);
  CHECK(words_of(definition("layout").at("properties").at("name")) == known_layouts);
  Names functions;
  for (const WrapperFunction& function : wrapper_functions()) functions.emplace(function.name);
  CHECK(words_of(definition("function")) == functions);
}

TEST_CASE("the loader's words are the ones that the values are called by") {
  const auto check = [](const auto& words, auto&& parse) {
    for (size_t i = 0; i < words.size(); ++i) {
      CAPTURE(words[i]);
      const auto parsed = parse(words[i]);
      REQUIRE(parsed.has_value());
      CHECK(static_cast<size_t>(*parsed) == i);
    }
  };
  check(kTensorNames, parse_tensor_name);
  check(kDtypes, parse_dtype);
  check(kVerdicts, parse_verdict);
  CHECK(kTensorNames.size() == size_t{kNumTensors});
  for (size_t i = 0; i < kWrappers.size(); ++i) {
    CHECK(name_of(static_cast<Wrapper>(i)) == kWrappers[i]);
  }
}

TEST_CASE("the page on the format names every key and every word") {
  const std::string page = text_of("docs/case-format.md");
  Names all = names({kDocumentKeys, kTestKeys, kChangeKeys, kTensorNames, kTensorKeys, kArgKeys,
                     kExpectKeys, kLayoutKeys, kFromKeys, kCsrKeys, kNormalKeys, kUniformKeys,
                     kConstantKeys, kRampKeys, launch_keys(Wrapper::kCandleFlashAttn),
                     launch_keys(Wrapper::kCandleFlashAttnV3)});
  all.erase("generator");  // the head of a column
  for (const std::string& key : all) {
    CAPTURE(key);
    const bool is_named = page.find("`" + key + "`") != std::string::npos;
    CHECK(is_named);
  }
  for (const std::string& word :
       names({kWrappers, kDtypes, kAxes, kGenerators, kOrders, kVerdicts, kArithmeticKeys})) {
    CAPTURE(word);
    const bool is_named = page.find(word) != std::string::npos;
    CHECK(is_named);
  }
}

TEST_CASE("the page's examples are cases") {
  const std::string page = text_of("docs/case-format.md");
  const std::string open = "```json\n";
  int documents = 0;
  for (size_t at = page.find(open); at != std::string::npos; at = page.find(open, at + 1)) {
    const size_t begin = at + open.size();
    const std::string example = page.substr(begin, page.find("```", begin) - begin);
    CAPTURE(example);
    CHECK(lines_of(load_text(example, "example.json", false).complaints).empty());
    ++documents;
  }
  CHECK(documents == 3);
}

}  // namespace
}  // namespace flashcheck
