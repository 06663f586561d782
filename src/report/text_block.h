#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace flashcheck {

/// Indented "label  text" lines, the text wrapped at word boundaries to `width` columns and its
/// later lines aligned under its first. A word longer than a line stays whole: messages must be
/// copyable.
std::string labelled(std::string_view label, std::string_view text, int width);

/// `text` wrapped to `width` columns, without indentation.
std::vector<std::string> wrap(std::string_view text, int width);

/// Columns that UTF-8 text takes, a code point a column.
int columns_of(std::string_view text);

/// Control characters other than a newline replaced, so that a hostile note cannot drive a
/// terminal.
std::string printable(std::string_view text);

}  // namespace flashcheck
