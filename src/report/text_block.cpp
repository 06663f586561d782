#include "src/report/text_block.h"

#include <algorithm>

namespace flashcheck {
namespace {

constexpr int kIndent = 2;
constexpr int kLabelColumns = 9;
constexpr int kLeastTextColumns = 24;

}  // namespace

int columns_of(std::string_view text) {
  return static_cast<int>(std::count_if(text.begin(), text.end(), [](char c) {
    return (static_cast<unsigned char>(c) & 0xC0) != 0x80;
  }));
}

std::vector<std::string> wrap(std::string_view text, int width) {
  std::vector<std::string> lines(1);
  size_t at = 0;
  while (at < text.size()) {
    if (text[at] == '\n') {
      lines.emplace_back();
      ++at;
      continue;
    }
    if (text[at] == ' ') {
      ++at;
      continue;
    }
    const size_t end = std::min(text.find_first_of(" \n", at), text.size());
    const std::string_view word = text.substr(at, end - at);
    std::string& line = lines.back();
    if (!line.empty() && columns_of(line) + 1 + columns_of(word) > width) {
      lines.emplace_back(word);
    } else {
      if (!line.empty()) line += ' ';
      line += word;
    }
    at = end;
  }
  return lines;
}

std::string labelled(std::string_view label, std::string_view text, int width) {
  const int columns = std::max(width - kIndent - kLabelColumns, kLeastTextColumns);
  std::string block;
  bool is_first = true;
  for (const std::string& line : wrap(text, columns)) {
    const std::string_view shown = is_first ? label : std::string_view();
    block += std::string(kIndent, ' ') + std::string(shown) +
             std::string(static_cast<size_t>(std::max(kLabelColumns - columns_of(shown), 1)), ' ') +
             line + '\n';
    is_first = false;
  }
  return block;
}

std::string printable(std::string_view text) {
  std::string shown;
  unsigned char previous = 0;
  for (char c : text) {
    const unsigned char byte = static_cast<unsigned char>(c);
    const bool is_c1 = previous == 0xC2 && byte >= 0x80 && byte < 0xA0;  // U+0080..U+009F
    previous = byte;
    if ((byte < 0x20 && c != '\n') || byte == 0x7F || is_c1) {
      constexpr std::string_view kHex = "0123456789ABCDEF";
      shown += "\\x";
      shown += kHex[byte >> 4];
      shown += kHex[byte & 15];
    } else {
      shown += c;
    }
  }
  return shown;
}

}  // namespace flashcheck
