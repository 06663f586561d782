#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace flashcheck {

/// The fewest insertions, deletions and replacements of bytes that turn one word into the other
/// (Levenshtein 1966). Only the first 64 bytes count.
size_t edit_distance(std::string_view a, std::string_view b);

/// The known word with the smallest edit distance for its length, whatever the case; the first of
/// several.
/// Precondition: there is one.
std::string_view nearest_word(std::string_view word, std::span<const std::string_view> known);

/// The same, but nothing if even that one differs in more than a third of its letters, plus one.
std::optional<std::string> nearest(std::string_view word, const std::vector<std::string>& known);

}  // namespace flashcheck
