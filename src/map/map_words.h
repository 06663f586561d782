#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "src/map/kv_map.h"

namespace flashcheck {

/// "0..31", or "7" for one.
std::string span_words(const KeyRange& range);
/// "k" -> "4096..8191", with "(64 runs of 128, every 256)" where it is not all of that.
std::string bytes_words(const ByteRuns& bytes);
/// "and 3 more (--all shows them)".
std::string more_words(int64_t count, std::string_view what);

/// `prefix`, then the cells with three blanks between them. A cell that does not fit begins a line
/// of its own below the first cell, or, after a prefix that takes half of the width, near the left;
/// it is broken at blanks only if it is too long for a line.
std::string laid_out(std::string_view prefix, const std::vector<std::string>& cells, int width);

}  // namespace flashcheck
