#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace flashcheck {

/// Insertions, deletions and replacements that turn `a` into `b` (Levenshtein 1966).
size_t edit_distance(std::string_view a, std::string_view b);

/// The known word nearest to a mistyped one; nothing if even that one differs in more than a third
/// of its letters, plus one.
std::optional<std::string> nearest(std::string_view word, const std::vector<std::string>& known);

}  // namespace flashcheck
