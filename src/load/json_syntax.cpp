#include "src/load/json_syntax.h"

#include <algorithm>

#include "src/load/json_value.h"

namespace flashcheck {
namespace {

constexpr std::string_view kWhitespace = " \t\r\n";
constexpr std::string_view kStructural = "{}[],:";

bool is_punctuation(char c) {
  return kWhitespace.find(c) != std::string_view::npos ||
         kStructural.find(c) != std::string_view::npos;
}

size_t skip_whitespace(std::string_view text, size_t at) {
  return std::min(text.find_first_not_of(kWhitespace, at), text.size());
}

/// What is wrong inside a string that begins at its opening quote and that the parser left at
/// `stop`.
std::string expected_of_string(std::string_view text, size_t stop) {
  if (stop == 0 || stop > text.size()) return "a string";
  const unsigned char last = static_cast<unsigned char>(text[stop - 1]);
  if (last < 0x20) return "a string without control characters, which are escaped (\\n)";
  if (last >= 0x80) return "a string in UTF-8";
  // A lead byte that its next byte does not continue.
  if (stop >= 2 && static_cast<unsigned char>(text[stop - 2]) >= 0xC0) return "a string in UTF-8";
  if (stop == text.size() && (last != '"' || stop < 2)) return "a string with a closing quote";
  return "a string with valid escapes";
}

/// The token at `at`: a string to `stop`, or everything up to whitespace or punctuation.
std::string_view token_at(std::string_view text, size_t at, size_t stop) {
  if (text[at] == '"') return text.substr(at, std::max(stop, at + 1) - at);
  if (kStructural.find(text[at]) != std::string_view::npos) return text.substr(at, 1);
  size_t end = at + 1;
  while (end < text.size() && !is_punctuation(text[end])) ++end;
  return text.substr(at, end - at);
}

/// Whether a number or word goes on where the parser thought that it had ended: "01", "0x10".
bool is_glued(std::string_view text, size_t last_end) {
  return last_end > 0 && last_end < text.size() && !is_punctuation(text[last_end - 1]) &&
         !is_punctuation(text[last_end]) && text[last_end] != '"' && text[last_end - 1] != '"';
}

size_t token_begin(std::string_view text, size_t end) {
  while (end > 0 && !is_punctuation(text[end - 1])) --end;
  return end;
}

bool is_value_word(std::string_view token) {
  return token == "true" || token == "false" || token == "null";
}

}  // namespace

JsonSyntaxError explain_syntax(std::string_view text, size_t last_end, size_t stop,
                               const JsonContext& context) {
  const char closing = context.in_object ? '}' : ']';
  size_t at = skip_whitespace(text, last_end);
  const auto skip = [&](char c) {
    if (at >= text.size() || text[at] != c) return false;
    at = skip_whitespace(text, at + 1);
    return true;
  };

  std::string expected;
  bool wants_value = false, wants_key = false;
  if (context.last == JsonEvent::kNone) {
    expected = "a JSON value";
    wants_value = true;
  } else if (context.last == JsonEvent::kKey) {
    wants_value = skip(':');
    expected = wants_value ? "a value" : "':' after the key";
  } else if (context.last == JsonEvent::kOpen) {
    wants_key = context.in_object;
    wants_value = !wants_key;
    expected = wants_key ? "a key in double quotes or '}'" : "a value or ']'";
  } else if (is_glued(text, last_end)) {
    at = token_begin(text, last_end);
    expected = "a value";
  } else if (context.at_top) {
    expected = "the end of the text";
  } else if (skip(',')) {
    wants_key = context.in_object;
    wants_value = !wants_key;
    expected = wants_key ? "a key in double quotes" : "a value";
  } else {
    expected = std::string("',' or '") + closing + "'";
  }

  if (at >= text.size()) return {text.size(), expected, "the end of the text"};
  const std::string_view token = token_at(text, at, stop);
  if (token.front() == '"' && (wants_value || wants_key)) expected = expected_of_string(text, stop);
  if (wants_value && !is_value_word(token)) {
    constexpr std::string_view kNotNumbers[] = {"NaN", "nan",  "Infinity", "-Infinity",
                                                "inf", "-inf", "-NaN",     "-nan",
                                                "Inf", "-Inf", "+inf",     "+Infinity"};
    if (std::find(std::begin(kNotNumbers), std::end(kNotNumbers), token) != std::end(kNotNumbers)) {
      expected += " (JSON has no such number: write \"nan\", \"inf\" or \"-inf\", in quotes)";
    }
  }
  return {at, expected, in_quotes(token)};
}

}  // namespace flashcheck
