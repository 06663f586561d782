#include "src/hazards/written_rows.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

namespace flashcheck {

std::vector<RowSpan> written_rows(const HazardContext& context, int64_t times) {
  std::map<int64_t, int64_t> change_at;  // of the number of sequences that write a row
  for_each_sequence(context, [&](int64_t, const LaunchedSequence& s) {
    if (s.seqlen_q() <= 0) return;
    ++change_at[s.q_begin];
    --change_at[s.q_end];
  });
  std::vector<RowSpan> spans;
  int64_t writers = 0;
  for (const auto& [row, change] : change_at) {
    const bool was_written = writers >= times;
    writers += change;
    if (!was_written && writers >= times) spans.push_back({row, row});
    if (was_written && writers < times) spans.back().end = row;
  }
  return spans;
}

std::vector<RowSpan> inside(const std::vector<RowSpan>& spans, RowSpan within) {
  std::vector<RowSpan> parts;
  const auto first =
      std::upper_bound(spans.begin(), spans.end(), within.begin,
                       [](int64_t row, const RowSpan& span) { return row < span.end; });
  for (auto span = first; span != spans.end() && span->begin < within.end; ++span) {
    parts.push_back({std::max(span->begin, within.begin), std::min(span->end, within.end)});
  }
  return parts;
}

std::vector<RowSpan> outside(const std::vector<RowSpan>& spans, RowSpan within) {
  std::vector<RowSpan> parts;
  int64_t next = within.begin;
  for (const RowSpan& span : inside(spans, within)) {
    if (next < span.begin) parts.push_back({next, span.begin});
    next = span.end;
  }
  if (next < within.end) parts.push_back({next, within.end});
  return parts;
}

std::string text_of(const std::vector<RowSpan>& spans) {
  constexpr size_t kMaxShown = 4;
  std::string text;
  for (size_t i = 0; i < std::min(spans.size(), kMaxShown); ++i) {
    text += fmt::format("{}{}..{}", i ? ", " : "", spans[i].begin, spans[i].end - 1);
  }
  return spans.size() > kMaxShown ? text + ", …" : text;
}

}  // namespace flashcheck
