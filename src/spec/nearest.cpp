#include "src/spec/nearest.h"

#include <algorithm>
#include <numeric>

namespace flashcheck {

size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), size_t{0});
  for (size_t i = 1; i <= a.size(); ++i) {
    size_t diagonal = row[0];
    row[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      const size_t replaced = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({replaced, row[j] + 1, row[j - 1] + 1});
    }
  }
  return row.back();
}

std::optional<std::string> nearest(std::string_view word, const std::vector<std::string>& known) {
  // A word of a hostile file may be megabytes long; nothing we know is.
  constexpr size_t kLongest = 100;
  if (word.size() > kLongest) return std::nullopt;
  const auto distance = [&](const std::string& other) { return edit_distance(word, other); };
  const auto best = std::min_element(
      known.begin(), known.end(),
      [&](const std::string& a, const std::string& b) { return distance(a) < distance(b); });
  if (best == known.end() || distance(*best) > best->size() / 3 + 1) return std::nullopt;
  return *best;
}

}  // namespace flashcheck
