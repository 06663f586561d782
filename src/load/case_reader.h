#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory_resource>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "src/load/complaints.h"
#include "src/load/json_value.h"
#include "src/load/values_reader.h"
#include "src/spec/case.h"

namespace flashcheck {

/// Reads the documents of one file into cases: a control with its tests, or a question.
class CaseReader {
 public:
  /// `path` is the file's, as the user gave it.
  explicit CaseReader(const std::string& path);

  /// Reads one document, whose text begins on line `first_line` of the file. Its cases are called
  /// `id`, unless the document has an id of its own, and `id`/test.
  void read_document(std::string_view text, int64_t first_line, const std::string& id);

  Complaints& complaints() { return complaints_; }
  std::vector<Case>& cases() { return cases_; }

 private:
  void read_root(const JsonValue& root, const std::string& default_id);
  void read_tests(const JsonValue& root, const std::string& id);
  void read_test(const JsonValue& root, const JsonValue& test, const std::string& id);
  /// Adds the case that `call` describes and `about` (the document or the test) names and expects.
  void add_case(const JsonValue& call, const JsonValue& about, std::string id);
  bool has_room(const JsonValue& at);

  Complaints complaints_;
  ValuesReader values_;
  std::vector<Case> cases_;
  std::unordered_set<std::string> ids_;
  // Most documents and tests fit, so that reading them allocates nothing for their JSON.
  std::array<std::byte, size_t{1} << 16> document_buffer_;
  std::array<std::byte, size_t{1} << 14> test_buffer_;
  std::pmr::monotonic_buffer_resource document_arena_;
  std::pmr::monotonic_buffer_resource test_arena_;
};

/// "paged" for "cases/paged.json", "stdin" for "-".
std::string stem_of(const std::string& path);

}  // namespace flashcheck
