#include "src/load/case_reader.h"

#include <fmt/format.h>

#include <filesystem>

#include "src/load/call_reader.h"
#include "src/load/case_file_rules.h"
#include "src/load/case_keys.h"
#include "src/load/expect_reader.h"
#include "src/load/json_document.h"
#include "src/load/json_reader.h"
#include "src/load/merge_patch.h"

namespace flashcheck {
namespace {

constexpr int64_t kSchema = 1;
/// Of one file; a case takes a few kilobytes.
constexpr size_t kMaxCases = size_t{1} << 18;

void read_schema(const JsonValue& root, Complaints& complaints) {
  const JsonValue* schema = require(root, "schema", complaints);
  if (!schema) return;
  if (schema->kind == JsonValue::Kind::kInteger && schema->integer == kSchema) return;
  complaints.add(complaint::kWrongSchema, *schema, std::to_string(kSchema),
                 describe(*schema, complaints.text()));
}

std::vector<std::string> read_refs(const JsonValue& array, Complaints& complaints) {
  std::vector<std::string> refs;
  if (!expect_array(array, complaints)) return refs;
  for (const JsonValue* child : array.children) {
    if (const auto ref = read_string(*child, complaints)) refs.emplace_back(*ref);
  }
  return refs;
}

}  // namespace

std::string stem_of(const std::string& path) {
  return path == "-" ? "stdin" : std::filesystem::path(path).stem().string();
}

CaseReader::CaseReader(const std::string& path)
    : complaints_(path),
      values_(path == "-" ? "" : std::filesystem::path(path).parent_path().string(), complaints_),
      document_arena_(document_buffer_.data(), document_buffer_.size()),
      test_arena_(test_buffer_.data(), test_buffer_.size()) {}

void CaseReader::read_document(std::string_view text, int64_t first_line, const std::string& id) {
  document_arena_.release();
  complaints_.begin_document(text, first_line);
  values_.begin_document();
  std::vector<JsonProblem> problems;
  const JsonValue* root = parse_json(text, JsonLimits{}, document_arena_, problems);
  for (JsonProblem& problem : problems) {
    complaints_.add_at(*problem.rule, problem.at, std::move(problem.where),
                       std::move(problem.expected), std::move(problem.got));
  }
  if (root && expect_object(*root, complaints_)) read_root(*root, id);
  // Of a file with a complaint there will be no cases: their memory is not kept.
  if (complaints_.count() > 0) cases_.clear();
}

void CaseReader::read_root(const JsonValue& root, const std::string& default_id) {
  expect_keys(root, kDocumentKeys, complaints_);
  read_schema(root, complaints_);
  std::string id = default_id;
  if (const JsonValue* given = root.find("id")) {
    const auto text = read_string(*given, complaints_);
    if (text && expect_id(*given, *text, complaints_)) id = *text;
  }
  const JsonValue* tests = root.find("tests");
  if (!tests || root.find("expect")) add_case(root, root, id);
  if (tests) read_tests(root, id);
}

void CaseReader::read_tests(const JsonValue& root, const std::string& id) {
  const JsonValue& tests = *root.find("tests");
  if (!expect_array(tests, complaints_)) return;
  if (tests.children.empty()) {
    complaints_.add(complaint::kNoCases, tests, "at least one test", "none");
  }
  for (const JsonValue* test : tests.children) {
    if (!has_room(*test)) return;
    if (!expect_object(*test, complaints_)) continue;
    complaints_.set_test(test);
    read_test(root, *test, id);
    complaints_.set_test(nullptr);
  }
}

void CaseReader::read_test(const JsonValue& root, const JsonValue& test, const std::string& id) {
  expect_keys(test, kTestKeys, complaints_);
  const JsonValue* test_id = require(test, "id", complaints_);
  const JsonValue* change = require(test, "change", complaints_);
  if (!test_id || !change) return;
  const auto name = read_string(*test_id, complaints_);
  if (!name || !expect_id(*test_id, *name, complaints_)) return;
  if (!expect_object(*change, complaints_)) return;
  expect_keys(*change, kChangeKeys, complaints_);
  // A null that removes what is not there leaves no trace in the merged call.
  const auto expect_keys_of = [&](const JsonValue* object, auto& known) {
    if (object && object->is_object()) expect_keys(*object, known, complaints_);
  };
  expect_keys_of(change->find("args"), kArgKeys);
  const JsonValue* tensors = change->find("tensors");
  expect_keys_of(tensors, kTensorNames);
  for (std::string_view tensor : kTensorNames) {
    expect_keys_of(tensors ? tensors->find(tensor) : nullptr, kTensorKeys);
  }
  test_arena_.release();
  add_case(*merge_patch(&root, *change, test_arena_), test, fmt::format("{}/{}", id, *name));
}

void CaseReader::add_case(const JsonValue& call, const JsonValue& about, std::string id) {
  if (!has_room(about)) return;
  Case& c = cases_.emplace_back();
  c.source = {complaints_.path(), complaints_.line_of(about.end)};
  read_call(call, values_, complaints_, c);
  if (const JsonValue* given = about.find("note")) {
    c.note = read_string(*given, complaints_).value_or("");
  }
  if (const JsonValue* given = about.find("refs")) c.refs = read_refs(*given, complaints_);
  if (const JsonValue* given = about.find("expect")) {
    const Wrapper wrapper = c.function ? c.function->wrapper : Wrapper::kCandleFlashAttn;
    c.expect = read_expect(*given, wrapper, complaints_);
  }
  if (!ids_.insert(id).second) {
    complaints_.add_member(complaint::kDoubledId, about, "id", "an id of its own",
                           in_quotes(id) + " again");
  }
  c.id = std::move(id);
}

bool CaseReader::has_room(const JsonValue& at) {
  if (cases_.size() < kMaxCases) return true;
  complaints_.add(complaint::kTooLarge, at, fmt::format("at most {} cases in a file", kMaxCases),
                  "more");
  return false;
}

}  // namespace flashcheck
