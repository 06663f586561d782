#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "src/load/complaints.h"
#include "src/load/json_value.h"

namespace flashcheck {

/// Reads of one value: what it holds, or nothing and a complaint. Nothing is converted: an integer
/// is a literal without '.' or exponent, a bool is no number, null is nothing but null.

std::optional<int64_t> read_integer(const JsonValue& value, int64_t low, int64_t high,
                                    Complaints& complaints);
/// Rust's usize, as far as an int64 holds it.
inline std::optional<int64_t> read_usize(const JsonValue& value, Complaints& complaints) {
  return read_integer(value, 0, std::numeric_limits<int64_t>::max(), complaints);
}
std::optional<uint64_t> read_uint64(const JsonValue& value, Complaints& complaints);
/// A number, or "inf", "-inf" or "nan".
std::optional<double> read_real(const JsonValue& value, Complaints& complaints);
/// The same, rounded to f32; a finite number that would become infinite, or a nonzero one that
/// would become 0, is a complaint.
std::optional<float> read_f32(const JsonValue& value, Complaints& complaints);
std::optional<bool> read_bool(const JsonValue& value, Complaints& complaints);
std::optional<std::string_view> read_string(const JsonValue& value, Complaints& complaints);
/// The index of a string among `words`.
std::optional<size_t> read_word(const JsonValue& value, std::span<const std::string_view> words,
                                Complaints& complaints);

/// Whether the value is an object, or an array; otherwise a complaint.
bool expect_object(const JsonValue& value, Complaints& complaints);
bool expect_array(const JsonValue& value, Complaints& complaints);
/// Whether all keys of an object are known; a complaint for each that is not.
bool expect_keys(const JsonValue& object, std::span<const std::string_view> known,
                 Complaints& complaints);
/// Whether `id`, which stands at `at`, can name a test or a storage: [A-Za-z0-9._-]+, not too long.
bool expect_id(const JsonValue& at, std::string_view id, Complaints& complaints);
/// The member of an object, or null and a complaint.
const JsonValue* require(const JsonValue& object, std::string_view key, Complaints& complaints);

/// The member of an object unless it is absent or null: a merge patch removes with null, and Rust's
/// None is written so.
const JsonValue* find_given(const JsonValue& object, std::string_view key);

}  // namespace flashcheck
