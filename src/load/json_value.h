#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace flashcheck {

/// One value of a JSON document, immutable, owned by the arena it was read into. A value knows its
/// place, so that a complaint about it needs nothing else; a merge patch shares the values it
/// keeps.
struct JsonValue {
  enum class Kind : uint8_t {
    kNull,
    kBool,
    kInteger,   // a literal without '.' or exponent that fits an int64
    kUnsigned,  // one above the int64s that fits an uint64
    kReal,      // every other number, -0 included
    kString,
    kArray,
    kObject
  };
  Kind kind = Kind::kNull;
  bool boolean = false;
  uint32_t end = 0;  // bytes from the document's start to just after the value, or after the
                     // opening bracket of an array or object
  union {
    int64_t integer = 0;
    uint64_t unsigned_integer;
    double real;
  };
  std::string_view text;                       // of a string, unescaped
  std::string_view key;                        // of a member of an object
  const JsonValue* parent = nullptr;           // null: the document
  std::span<const JsonValue* const> children;  // of an array or object, in the document's order

  bool is_null() const { return kind == Kind::kNull; }
  bool is_number() const {
    return kind == Kind::kInteger || kind == Kind::kUnsigned || kind == Kind::kReal;
  }
  bool is_string() const { return kind == Kind::kString; }
  bool is_array() const { return kind == Kind::kArray; }
  bool is_object() const { return kind == Kind::kObject; }
  /// The member of an object; null if it has none of that name or is no object.
  const JsonValue* find(std::string_view name) const;
};

/// "/tensors/k/shape/1": the JSON pointer (RFC 6901) of a value; "" is the document.
std::string pointer_of(const JsonValue& value);
/// The pointer of a member that `object` has or lacks.
std::string pointer_of_member(const JsonValue& object, std::string_view key);
/// Appends "/key", escaped; keys beyond 80 bytes are cut.
void append_pointer_token(std::string& pointer, std::string_view key);
/// Whether `value` is `ancestor` or stands inside it.
bool is_inside(const JsonValue& value, const JsonValue& ancestor);

/// "f16" in quotes, with control characters and bytes that are not UTF-8 escaped, cut to
/// `max_bytes`.
std::string in_quotes(std::string_view text, size_t max_bytes = 60);

}  // namespace flashcheck
