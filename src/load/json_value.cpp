#include "src/load/json_value.h"

#include <fmt/format.h>

#include <vector>

namespace flashcheck {
namespace {

size_t index_in(const JsonValue& array, const JsonValue& value) {
  size_t index = 0;
  while (index < array.children.size() && array.children[index] != &value) ++index;
  return index;
}

/// The number of bytes of the UTF-8 sequence that `text` starts with; 0 if it starts with none.
size_t utf8_length(std::string_view text) {
  const auto byte = [&](size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char first = byte(0);
  const size_t length = first < 0x80                    ? 1
                        : first >= 0xC2 && first < 0xE0 ? 2
                        : first >= 0xE0 && first < 0xF0 ? 3
                        : first >= 0xF0 && first < 0xF5 ? 4
                                                        : 0;
  if (length == 0 || length > text.size()) return 0;
  for (size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xC0) != 0x80) return 0;
  }
  return length;
}

}  // namespace

void append_pointer_token(std::string& pointer, std::string_view key) {
  constexpr size_t kMaxShown = 80;
  pointer += '/';
  for (char c : key.substr(0, kMaxShown)) {
    if (c == '~') {
      pointer += "~0";
    } else if (c == '/') {
      pointer += "~1";
    } else if (static_cast<unsigned char>(c) < 0x20 || c == 0x7F) {
      pointer += fmt::format("\\u{:04x}", static_cast<unsigned>(c));
    } else {
      pointer += c;
    }
  }
  if (key.size() <= kMaxShown) return;
  while (!pointer.empty() && (pointer.back() & 0xC0) == 0x80) pointer.pop_back();
  if (static_cast<unsigned char>(pointer.back()) >= 0xC0) pointer.pop_back();
  pointer += "...";
}

const JsonValue* JsonValue::find(std::string_view name) const {
  if (!is_object()) return nullptr;
  for (const JsonValue* child : children) {
    if (child->key == name) return child;
  }
  return nullptr;
}

std::string pointer_of(const JsonValue& value) {
  std::vector<const JsonValue*> path;
  for (const JsonValue* at = &value; at->parent; at = at->parent) path.push_back(at);
  std::string pointer;
  for (size_t i = path.size(); i-- > 0;) {
    const JsonValue& parent = *path[i]->parent;
    append_pointer_token(pointer, parent.is_array() ? std::to_string(index_in(parent, *path[i]))
                                                    : std::string(path[i]->key));
  }
  return pointer;
}

std::string pointer_of_member(const JsonValue& object, std::string_view key) {
  std::string pointer = pointer_of(object);
  append_pointer_token(pointer, key);
  return pointer;
}

bool is_inside(const JsonValue& value, const JsonValue& ancestor) {
  for (const JsonValue* at = &value; at; at = at->parent) {
    if (at == &ancestor) return true;
  }
  return false;
}

std::string in_quotes(std::string_view text, size_t max_bytes) {
  std::string shown = "\"";
  size_t i = 0;
  while (i < text.size() && i < max_bytes) {
    const size_t length = utf8_length(text.substr(i));
    const unsigned char first = static_cast<unsigned char>(text[i]);
    if (length == 0) {
      shown += fmt::format("\\x{:02x}", first);
    } else if (first == '\n') {
      shown += "\\n";
    } else if (first < 0x20 || first == 0x7F) {
      shown += fmt::format("\\u{:04x}", first);
    } else {
      if (first == '"' || first == '\\') shown += '\\';
      shown += text.substr(i, length);
    }
    i += length == 0 ? 1 : length;
  }
  return shown + (i < text.size() ? "\"..." : "\"");
}

}  // namespace flashcheck
