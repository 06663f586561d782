#include "src/map/map_words.h"

#include <fmt/format.h>

#include <algorithm>

#include "src/report/text_block.h"

namespace flashcheck {

std::string span_words(const KeyRange& range) {
  if (range.end - range.begin == 1) return fmt::format("{}", range.begin);
  return fmt::format("{}..{}", range.begin, range.end - 1);
}

std::string bytes_words(const ByteRuns& bytes) {
  if (bytes.run_bytes == 0) return "none";
  std::string text = span_words({bytes.begin_bytes, bytes.end_bytes()});
  if (bytes.loops.empty()) return text;
  std::string counts, strides;
  for (const ByteLoop& loop : bytes.loops) {
    counts += fmt::format("{}{}", counts.empty() ? "" : " x ", loop.count);
    strides += fmt::format("{}{}", strides.empty() ? "" : " and ", loop.stride_bytes);
  }
  return text + fmt::format(" ({} runs of {}, every {})", counts, bytes.run_bytes, strides);
}

std::string more_words(int64_t count, std::string_view what) {
  return fmt::format("and {} more {}{} (--all shows them)", count, what, count == 1 ? "" : "s");
}

std::string laid_out(std::string_view prefix, const std::vector<std::string>& cells, int width) {
  constexpr int kGap = 3, kNarrowIndent = 13;
  const bool is_narrow = columns_of(prefix) > width / 2;
  const int indent = is_narrow ? std::min(kNarrowIndent, columns_of(prefix)) : columns_of(prefix);
  const std::string line_start = '\n' + std::string(static_cast<size_t>(indent), ' ');
  std::string text(prefix);
  int column = columns_of(prefix);
  for (size_t i = 0; i < cells.size(); ++i) {
    const int gap = i == 0 ? 0 : kGap;
    if (column + gap + columns_of(cells[i]) <= width) {
      text += std::string(static_cast<size_t>(gap), ' ') + cells[i];
      column += gap + columns_of(cells[i]);
      continue;
    }
    bool starts_line = i > 0 || is_narrow;
    for (const std::string& line : wrap(cells[i], std::max(width - indent, 1))) {
      if (starts_line) text.erase(text.find_last_not_of(' ') + 1);
      text += (starts_line ? line_start : "") + line;
      column = indent + columns_of(line);
      starts_line = true;
    }
  }
  return text + '\n';
}

}  // namespace flashcheck
