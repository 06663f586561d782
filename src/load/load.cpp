#include "src/load/load.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <memory_resource>
#include <new>
#include <variant>

#include "src/load/case_file_rules.h"
#include "src/load/case_reader.h"
#include "src/load/case_text.h"
#include "src/load/json_document.h"

namespace flashcheck {
namespace {

constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";

bool is_blank(std::string_view line) {
  return line.find_first_not_of(" \t\r") == std::string_view::npos;
}

/// Takes the first line, without its end, off a text.
std::string_view take_line(std::string_view& text) {
  const size_t end = std::min(text.find('\n'), text.size());
  const std::string_view line = text.substr(0, end);
  text.remove_prefix(std::min(end + 1, text.size()));
  return line;
}

void read_lines(std::string_view text, const std::string& path, CaseReader& reader) {
  const std::string stem = stem_of(path);
  int64_t number = 0;
  while (!text.empty()) {
    const std::string_view line = take_line(text);
    ++number;
    if (!is_blank(line)) reader.read_document(line, number, fmt::format("{}:{}", stem, number));
  }
  if (reader.cases().empty() && reader.complaints().count() == 0) {
    reader.complaints().add_about("the file", complaint::kNoCases, "a case on at least one line",
                                  "none");
  }
}

LoadResult complain(const Rule& rule, const std::string& path, std::string expected,
                    std::string got) {
  Complaints complaints(path);
  complaints.add_about("the file", rule, std::move(expected), std::move(got));
  return {{}, complaints.take()};
}

/// Whether the first line that is not blank is a document of its own, and another follows.
bool looks_like_lines(std::string_view text) {
  std::string_view line;
  while (!text.empty() && is_blank(line)) line = take_line(text);
  if (is_blank(text.substr(0, text.find_last_not_of('\n') + 1))) return false;
  std::pmr::monotonic_buffer_resource arena;
  std::vector<JsonProblem> problems;
  return parse_json(line, JsonLimits{}, arena, problems) != nullptr;
}

}  // namespace

LoadResult load_text(std::string_view text, const std::string& path, bool is_jsonl) {
  if (text.size() > static_cast<size_t>(kMaxCaseFileBytes)) {
    return complain(complaint::kFileTooLarge, path,
                    fmt::format("a case file of at most {} bytes", kMaxCaseFileBytes),
                    fmt::format("{} bytes", text.size()));
  }
  try {
    if (text.starts_with(kByteOrderMark)) text.remove_prefix(kByteOrderMark.size());
    const auto reader = std::make_unique<CaseReader>(path);
    if (is_jsonl) {
      read_lines(text, path, *reader);
    } else {
      reader->read_document(text, 1, stem_of(path));
    }
    LoadResult result{std::move(reader->cases()), reader->complaints().take()};
    if (!result.complaints.empty()) result.cases.clear();
    return result;
  } catch (const std::bad_alloc&) {
    return complain(complaint::kOutOfMemory, path, "a file that fits memory", "no more memory");
  }
}

LoadResult load_file(const std::string& path) {
  try {
    const auto text = read_case_text(path);
    if (const auto* problem = std::get_if<CaseTextProblem>(&text)) {
      if (!problem->is_too_large) {
        return complain(complaint::kCannotRead, path, "a readable file", problem->got);
      }
      return complain(complaint::kFileTooLarge, path,
                      fmt::format("a case file of at most {} bytes", kMaxCaseFileBytes),
                      problem->got);
    }
    const std::string_view bytes = std::get<std::string>(text);
    const bool is_jsonl = path == "-" ? looks_like_lines(bytes) : path.ends_with(".jsonl");
    return load_text(bytes, path, is_jsonl);
  } catch (const std::bad_alloc&) {
    return complain(complaint::kOutOfMemory, path, "a file that fits memory", "no more memory");
  }
}

}  // namespace flashcheck
