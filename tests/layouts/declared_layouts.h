#pragma once

#include <cstdint>
#include <functional>
#include <string_view>
#include <vector>

namespace flashcheck {

/// Sizes of a small cache, all different, so that no two axes can be exchanged unseen.
inline constexpr int64_t kPages = 5, kTokens = 3, kHeads = 2, kDims = 7, kLayers = 4, kLayer = 2,
                         kRank = 6, kRope = 7;

/// Where an engine itself finds element (n, t, h, e) of its k or v: by indexing, row-major, the
/// tensor that it declares. Written from the engine's shapes, not from the order of axes.
struct DeclaredLayout {
  std::string_view name;
  std::vector<int64_t> shape;  // of the one tensor, or of k's
  std::function<std::vector<int64_t>(int64_t n, int64_t t, int64_t h, int64_t e, bool is_v)> index;
};
const std::vector<DeclaredLayout>& declared_layouts();

/// The distance from the tensor's first element.
int64_t row_major(const std::vector<int64_t>& shape, const std::vector<int64_t>& index);

}  // namespace flashcheck
