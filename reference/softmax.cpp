#include "reference/softmax.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace flashcheck {

double softmax(const std::vector<KeyRange>& visible, KeyBlock& block, int64_t n) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  double* const line = block.line(n);
  double max = -kInfinity;
  for (const KeyRange& range : visible) {
    for (int64_t j = range.begin; j < range.end; ++j)
      max = std::max(max, line[j - block.first_key]);
  }
  double sum = 0;
  int64_t hidden = 0;  // keys before it are done
  for (const KeyRange& range : visible) {
    std::fill(line + hidden, line + (range.begin - block.first_key), 0.0);
    hidden = range.end - block.first_key;
    for (int64_t j = range.begin - block.first_key; j < hidden; ++j) {
      line[j] = std::exp(line[j] - max);
      sum += line[j];
    }
  }
  std::fill(line + hidden, line + block.num_keys, 0.0);
  for (const KeyRange& range : visible) {
    for (int64_t j = range.begin; j < range.end; ++j) line[j - block.first_key] /= sum;
  }
  return visible.empty() ? kInfinity : max + std::log(sum);
}

}  // namespace flashcheck
