#include "src/spec/nearest.h"

#include <algorithm>
#include <array>
#include <numeric>

namespace flashcheck {
namespace {

constexpr size_t kMaxLength = 64;

std::string lowered(std::string_view word) {
  std::string lower(word.substr(0, kMaxLength));
  for (char& c : lower) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return lower;
}

}  // namespace

size_t edit_distance(std::string_view a, std::string_view b) {
  a = a.substr(0, kMaxLength);
  b = b.substr(0, kMaxLength);
  // row[j] is the distance from the first i bytes of a to the first j bytes of b.
  std::array<size_t, kMaxLength + 1> row{};
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
  return row[b.size()];
}

std::string_view nearest_word(std::string_view word, std::span<const std::string_view> known) {
  // Relative to the length, so that "candle" is near "candle-flash-attn", not near "none".
  const std::string lower = lowered(word);
  const auto distance = [&](std::string_view other) {
    const size_t length = std::clamp(std::max(word.size(), other.size()), size_t{1}, kMaxLength);
    return static_cast<double>(edit_distance(lower, lowered(other))) / static_cast<double>(length);
  };
  return *std::min_element(known.begin(), known.end(),
                           [&](auto a, auto b) { return distance(a) < distance(b); });
}

std::optional<std::string> nearest(std::string_view word, const std::vector<std::string>& known) {
  if (known.empty()) return std::nullopt;
  const std::vector<std::string_view> words(known.begin(), known.end());
  const std::string best(nearest_word(word, words));
  if (edit_distance(lowered(word), lowered(best)) > best.size() / 3 + 1) return std::nullopt;
  return best;
}

}  // namespace flashcheck
