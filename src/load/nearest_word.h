#pragma once

#include <span>
#include <string>
#include <string_view>

namespace flashcheck {

/// The fewest insertions, deletions and replacements of bytes that turn one word into the other.
/// Only the first 64 bytes count.
size_t edit_distance(std::string_view a, std::string_view b);

/// The known word with the smallest edit distance for its length, whatever the case; the first of
/// several.
/// Precondition: there is one.
std::string_view nearest_word(std::string_view word, std::span<const std::string_view> known);

/// "a, b, c".
std::string listed(std::span<const std::string_view> words);

}  // namespace flashcheck
