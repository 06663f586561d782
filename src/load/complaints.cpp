#include "src/load/complaints.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>

#include "src/load/case_file_rules.h"
#include "src/load/listed.h"
#include "src/spec/nearest.h"

namespace flashcheck {
namespace {

constexpr size_t kMaxKept = 20;
constexpr size_t kMaxListed = 16;

std::string_view number_literal(std::string_view text, size_t end) {
  constexpr std::string_view kNumberCharacters = "+-.0123456789eE";
  end = std::min(end, text.size());
  size_t begin = end;
  while (begin > 0 && kNumberCharacters.find(text[begin - 1]) != std::string_view::npos) --begin;
  return text.substr(begin, end - begin);
}

std::string cut(std::string_view text) {
  constexpr size_t kMaxShown = 60;
  return std::string(text.substr(0, kMaxShown)) + (text.size() > kMaxShown ? "..." : "");
}

}  // namespace

std::string describe(const JsonValue& value, std::string_view text) {
  switch (value.kind) {
    case JsonValue::Kind::kNull:
      return "null";
    case JsonValue::Kind::kBool:
      return value.boolean ? "true" : "false";
    case JsonValue::Kind::kInteger:
    case JsonValue::Kind::kUnsigned:
    case JsonValue::Kind::kReal:
      return cut(number_literal(text, value.end));
    case JsonValue::Kind::kString:
      return in_quotes(value.text);
    case JsonValue::Kind::kArray:
      return fmt::format("an array of {}", value.children.size());
    case JsonValue::Kind::kObject:
      return "an object";
  }
  return "";
}

void Complaints::begin_document(std::string_view text, int64_t first_line) {
  text_ = text;
  first_line_ = first_line;
  known_byte_ = 0;
  known_line_ = first_line;
  test_ = nullptr;
  seen_.clear();
}

int64_t Complaints::line_of(size_t byte) {
  byte = std::min(byte, text_.size());
  if (byte < known_byte_) {
    known_byte_ = 0;
    known_line_ = first_line_;
  }
  known_line_ += std::count(text_.begin() + static_cast<std::ptrdiff_t>(known_byte_),
                            text_.begin() + static_cast<std::ptrdiff_t>(byte), '\n');
  known_byte_ = byte;
  return known_line_;
}

void Complaints::add(const Rule& rule, const JsonValue& at, std::string expected, std::string got) {
  if (!is_kept(rule, at.end, "", expected, got)) return;
  keep(rule, line_of(at.end), pointer_of(at),
       {{"expected", std::move(expected)}, {"got", std::move(got)}}, &at);
}

void Complaints::add_member(const Rule& rule, const JsonValue& object, std::string_view key,
                            std::string expected, std::string got) {
  if (!is_kept(rule, object.end, key, expected, got)) return;
  const JsonValue* member = object.find(key);
  const JsonValue& at = member ? *member : object;
  keep(rule, line_of(at.end), member ? pointer_of(*member) : pointer_of_member(object, key),
       {{"expected", std::move(expected)}, {"got", std::move(got)}}, &at);
}

void Complaints::add_unknown(const Rule& rule, const JsonValue& at,
                             std::span<const std::string_view> known, std::string_view got) {
  if (!is_kept(rule, at.end, "", "", got)) return;
  keep(rule, line_of(at.end), pointer_of(at),
       {{"expected", known.size() > kMaxListed ? fmt::format("one of {} known names", known.size())
                                               : "one of " + listed(known)},
        {"got", in_quotes(got)},
        {"nearest", in_quotes(nearest_word(got, known))}},
       &at);
}

void Complaints::add_at(const Rule& rule, size_t byte, std::string where, std::string expected,
                        std::string got) {
  if (!is_kept(rule, byte, where, expected, got)) return;
  keep(rule, line_of(byte), std::move(where),
       {{"expected", std::move(expected)}, {"got", std::move(got)}}, nullptr);
}

void Complaints::add_about(std::string_view subject, const Rule& rule, std::string expected,
                           std::string got) {
  if (!is_kept(rule, 0, subject, expected, got)) return;
  keep(rule, 1, "", {{"expected", std::move(expected)}, {"got", std::move(got)}}, nullptr, subject);
}

bool Complaints::is_kept(const Rule& rule, size_t byte, std::string_view key,
                         std::string_view expected, std::string_view got) {
  size_t hash = std::hash<std::string_view>{}(rule.code);
  const auto mix = [&](size_t next) { hash = hash * 0x9E3779B97F4A7C15u + next; };
  mix(byte);
  mix(std::hash<std::string_view>{}(key));
  mix(std::hash<std::string_view>{}(expected));
  mix(std::hash<std::string_view>{}(got));
  // The tests of a file share what they do not change, and would repeat complaints about it.
  return seen_.insert(hash).second && ++count_ <= static_cast<int64_t>(kMaxKept);
}

void Complaints::keep(const Rule& rule, int64_t line, std::string where,
                      std::vector<FindingArg> args, const JsonValue* at, std::string_view subject) {
  args.insert(args.begin(), {"where", where.empty() ? std::string(subject) : where});
  kept_.push_back({{path_, line}, make_finding(rule, std::move(where), std::move(args))});
  if (!test_ || !at || is_inside(*at, *test_)) return;
  const JsonValue* id = test_->find("id");
  kept_.back().finding.details.push_back(fmt::format(
      "In the test {}, line {}.", id && id->is_string() ? in_quotes(id->text) : "without an id",
      line_of(test_->end)));
}

std::vector<LoadComplaint> Complaints::take() {
  if (const int64_t rest = count_ - static_cast<int64_t>(kept_.size()); rest > 0) {
    kept_.push_back({{path_, kept_.back().source.line},
                     make_finding(complaint::kTooManyComplaints, "",
                                  {{"where", "the file"},
                                   {"expected", fmt::format("at most {} complaints", kMaxKept)},
                                   {"got", fmt::format("{} more", rest)}})});
  }
  count_ = 0;
  seen_.clear();
  return std::move(kept_);
}

}  // namespace flashcheck
