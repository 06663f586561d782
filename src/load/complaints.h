#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "src/load/json_value.h"
#include "src/load/load.h"

namespace flashcheck {

/// Collects the complaints about one file: the first 20, without repetitions, and the number of the
/// others.
class Complaints {
 public:
  explicit Complaints(std::string path) : path_(std::move(path)) {}

  const std::string& path() const { return path_; }
  /// From here on positions are in `text`, whose first line is line `first_line` of the file. The
  /// text must live as long as complaints are made about it.
  void begin_document(std::string_view text, int64_t first_line);
  std::string_view text() const { return text_; }
  /// The line of the file that the byte stands in. Fast for bytes in ascending order.
  int64_t line_of(size_t byte);

  /// Complaints that follow are about this test of the document (null: about none).
  void set_test(const JsonValue* test) { test_ = test; }

  void add(const Rule& rule, const JsonValue& at, std::string expected, std::string got);
  /// About a member that `object` lacks or should lack.
  void add_member(const Rule& rule, const JsonValue& object, std::string_view key,
                  std::string expected, std::string got);
  /// `got` is a word, or a key at `at`, and none of those known; the nearest one is told.
  void add_unknown(const Rule& rule, const JsonValue& at, std::span<const std::string_view> known,
                   std::string_view got);
  /// About a byte of the document; `where` is a JSON pointer.
  void add_at(const Rule& rule, size_t byte, std::string where, std::string expected,
              std::string got);
  /// `subject` is "the file" or "the path".
  void add_about(std::string_view subject, const Rule& rule, std::string expected, std::string got);

  int64_t count() const { return count_; }
  /// The complaints, in order; the collection is empty afterwards.
  std::vector<LoadComplaint> take();

 private:
  /// Counts a complaint; false if it was made before or only its number will be told.
  bool is_kept(const Rule& rule, size_t byte, std::string_view key, std::string_view expected,
               std::string_view got);
  void keep(const Rule& rule, int64_t line, std::string where, std::vector<FindingArg> args,
            const JsonValue* at, std::string_view subject = "the document");

  std::string path_;
  std::string_view text_;
  int64_t first_line_ = 1;
  size_t known_byte_ = 0;  // the last line asked for
  int64_t known_line_ = 1;
  const JsonValue* test_ = nullptr;
  std::vector<LoadComplaint> kept_;
  std::unordered_set<size_t> seen_;  // hashes of the document's complaints
  int64_t count_ = 0;
};

/// "2.7", "\"f61\"", "an array of 3": a value as a complaint shows it.
std::string describe(const JsonValue& value, std::string_view text);

}  // namespace flashcheck
