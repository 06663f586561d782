#include "src/load/json_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "src/load/case_file_rules.h"

namespace flashcheck {
namespace {

void complain_of_type(const JsonValue& value, std::string expected, Complaints& complaints) {
  complaints.add(complaint::kWrongType, value, std::move(expected),
                 describe(value, complaints.text()));
}

/// A number of the wrong kind is another complaint than no number at all.
void complain_of_integer(const JsonValue& value, std::string range, Complaints& complaints) {
  complaints.add(value.is_number() ? complaint::kNotInteger : complaint::kWrongType, value,
                 "an integer from " + range, describe(value, complaints.text()));
}

}  // namespace

std::optional<int64_t> read_integer(const JsonValue& value, int64_t low, int64_t high,
                                    Complaints& complaints) {
  if (value.kind == JsonValue::Kind::kInteger && value.integer >= low && value.integer <= high) {
    return value.integer;
  }
  complain_of_integer(value, fmt::format("{} to {}", low, high), complaints);
  return std::nullopt;
}

std::optional<uint64_t> read_uint64(const JsonValue& value, Complaints& complaints) {
  if (value.kind == JsonValue::Kind::kUnsigned) return value.unsigned_integer;
  if (value.kind == JsonValue::Kind::kInteger && value.integer >= 0) {
    return static_cast<uint64_t>(value.integer);
  }
  complain_of_integer(value, "0 to 18446744073709551615", complaints);
  return std::nullopt;
}

std::optional<double> read_real(const JsonValue& value, Complaints& complaints) {
  switch (value.kind) {
    case JsonValue::Kind::kInteger:
      return static_cast<double>(value.integer);
    case JsonValue::Kind::kUnsigned:
      return static_cast<double>(value.unsigned_integer);
    case JsonValue::Kind::kReal:
      return value.real;
    case JsonValue::Kind::kString:
      if (value.text == "inf") return std::numeric_limits<double>::infinity();
      if (value.text == "-inf") return -std::numeric_limits<double>::infinity();
      if (value.text == "nan") return std::numeric_limits<double>::quiet_NaN();
      break;
    default:
      break;
  }
  complain_of_type(value, "a number, \"inf\", \"-inf\" or \"nan\"", complaints);
  return std::nullopt;
}

std::optional<float> read_f32(const JsonValue& value, Complaints& complaints) {
  const std::optional<double> wide = read_real(value, complaints);
  if (!wide) return std::nullopt;
  const float narrow = static_cast<float>(*wide);
  if (std::isfinite(*wide) != std::isfinite(narrow) || (*wide != 0 && narrow == 0)) {
    complaints.add(complaint::kNumberOutOfRange, value,
                   "0 or a number from 1.4e-45 to 3.4028235e38 in magnitude",
                   describe(value, complaints.text()));
    return std::nullopt;
  }
  return narrow;
}

std::optional<bool> read_bool(const JsonValue& value, Complaints& complaints) {
  if (value.kind == JsonValue::Kind::kBool) return value.boolean;
  complain_of_type(value, "true or false", complaints);
  return std::nullopt;
}

std::optional<std::string_view> read_string(const JsonValue& value, Complaints& complaints) {
  if (value.is_string()) return value.text;
  complain_of_type(value, "a string", complaints);
  return std::nullopt;
}

std::optional<size_t> read_word(const JsonValue& value, std::span<const std::string_view> words,
                                Complaints& complaints) {
  const std::optional<std::string_view> word = read_string(value, complaints);
  if (!word) return std::nullopt;
  const auto found = std::find(words.begin(), words.end(), *word);
  if (found != words.end()) return static_cast<size_t>(found - words.begin());
  complaints.add_unknown(complaint::kUnknownWord, value, words, *word);
  return std::nullopt;
}

bool expect_object(const JsonValue& value, Complaints& complaints) {
  if (value.is_object()) return true;
  complain_of_type(value, "an object", complaints);
  return false;
}

bool expect_array(const JsonValue& value, Complaints& complaints) {
  if (value.is_array()) return true;
  complain_of_type(value, "an array", complaints);
  return false;
}

bool expect_keys(const JsonValue& object, std::span<const std::string_view> known,
                 Complaints& complaints) {
  bool all_known = true;
  for (const JsonValue* member : object.children) {
    if (std::find(known.begin(), known.end(), member->key) != known.end()) continue;
    complaints.add_unknown(complaint::kUnknownKey, *member, known, member->key);
    all_known = false;
  }
  return all_known;
}

bool expect_id(const JsonValue& at, std::string_view id, Complaints& complaints) {
  constexpr size_t kMaxLength = 200;
  const auto is_allowed = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' ||
           c == '_' || c == '-';
  };
  if (!id.empty() && id.size() <= kMaxLength && std::all_of(id.begin(), id.end(), is_allowed)) {
    return true;
  }
  complaints.add(complaint::kBadId, at,
                 fmt::format("a name of 1 to {} characters A-Z a-z 0-9 . _ -", kMaxLength),
                 in_quotes(id));
  return false;
}

const JsonValue* require(const JsonValue& object, std::string_view key, Complaints& complaints) {
  if (const JsonValue* member = object.find(key)) return member;
  complaints.add(complaint::kMissingKey, object, fmt::format("the key {}", in_quotes(key)),
                 "an object without it");
  return nullptr;
}

const JsonValue* find_given(const JsonValue& object, std::string_view key) {
  const JsonValue* member = object.find(key);
  return member && !member->is_null() ? member : nullptr;
}

}  // namespace flashcheck
