#include "src/map/key_picture.h"

#include <fmt/format.h>

#include <algorithm>

#include "src/map/map_words.h"

namespace flashcheck {
namespace {

constexpr size_t kMaxRangesWorded = 3;
constexpr int64_t kLeastColumns = 8;

std::string keys_words(const std::vector<KeyRange>& keys) {
  if (keys.empty()) return "none";
  std::string text;
  for (size_t i = 0; i < std::min(keys.size(), kMaxRangesWorded); ++i) {
    text += (i == 0 ? "" : ", ") + span_words(keys[i]);
  }
  return keys.size() > kMaxRangesWorded ? text + ", …" : text;
}

int64_t seen_in(const std::vector<KeyRange>& keys, const KeyRange& cell) {
  int64_t count = 0;
  for (const KeyRange& range : keys) {
    count +=
        std::max<int64_t>(0, std::min(range.end, cell.end) - std::max(range.begin, cell.begin));
  }
  return count;
}

std::string strip(const std::vector<KeyRange>& keys, int64_t num_keys, int64_t keys_a_column) {
  std::string picture;
  for (int64_t begin = 0; begin < num_keys; begin += keys_a_column) {
    const KeyRange cell{begin, std::min(num_keys, begin + keys_a_column)};
    const int64_t seen = seen_in(keys, cell);
    picture += seen == 0 ? '.' : seen == cell.end - cell.begin ? '#' : '+';
  }
  return picture;
}

}  // namespace

std::vector<std::string> key_picture(const MappedSequence& sequence, int width) {
  std::vector<std::string> labels;
  size_t number_width = 0, keys_width = 0;
  for (const RowView& row : sequence.rows) {
    number_width = std::max(number_width, std::to_string(row.row).size());
    keys_width = std::max(keys_width, keys_words(row.keys).size());
  }
  const int64_t taken = static_cast<int64_t>(number_width + keys_width) + 9;
  const int64_t columns = std::max(width - taken, kLeastColumns);
  const int64_t keys_a_column = (sequence.seqlen_k + columns - 1) / columns;

  std::vector<std::string> lines{fmt::format(
      "{} query row{} at position{} {} of {} keys{}", sequence.seqlen_q,
      sequence.seqlen_q == 1 ? "" : "s", sequence.seqlen_q == 1 ? "" : "s",
      span_words({sequence.seqlen_k - sequence.seqlen_q, sequence.seqlen_k}), sequence.seqlen_k,
      keys_a_column == 1 ? "" : fmt::format("; a column is {} keys", keys_a_column))};
  int64_t previous = -1;
  for (const RowView& row : sequence.rows) {
    if (row.row != previous + 1) lines.emplace_back("…");
    lines.push_back(fmt::format("row {:>{}}  {:<{}}  {}", row.row, number_width,
                                keys_words(row.keys), keys_width,
                                strip(row.keys, sequence.seqlen_k, keys_a_column)));
    previous = row.row;
  }
  return lines;
}

}  // namespace flashcheck
