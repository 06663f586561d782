#include "kernels/cpu/tile_gemm.h"

#include <doctest/doctest.h>

#include <cstddef>
#include <initializer_list>
#include <vector>

using namespace flashcheck;

namespace {

constexpr int kLanes = 16;

float small(int n) { return static_cast<float>(n % 13 - 6); }

template <bool kAccumulate>
void check(int num_rows, int num_k, int num_lanes, bool is_transposed) {
  CAPTURE(num_rows);
  CAPTURE(num_k);
  CAPTURE(num_lanes);
  std::vector<float> a, b, c(static_cast<size_t>(num_rows * kLanes), 100.0f);
  for (int n = 0; n < num_rows * num_k; ++n) a.push_back(small(5 * n));
  for (int n = 0; n < num_k * kLanes; ++n) b.push_back(small(7 * n));
  const int row_stride = is_transposed ? 1 : num_k, k_stride = is_transposed ? num_rows : 1;
  TileGemm<kLanes, kAccumulate>::multiply(a.data(), row_stride, k_stride, b.data(), c.data(),
                                          num_rows, num_k, num_lanes);
  for (int m = 0; m < num_rows; ++m) {
    for (int lane = 0; lane < kLanes; ++lane) {
      float expected = kAccumulate || lane >= num_lanes ? 100.0f : 0.0f;
      for (int k = 0; k < num_k && lane < num_lanes; ++k) {
        expected += a[static_cast<size_t>(m * row_stride + k * k_stride)] *
                    b[static_cast<size_t>(k * kLanes + lane)];
      }
      REQUIRE(c[static_cast<size_t>(m * kLanes + lane)] == expected);
    }
  }
}

}  // namespace

TEST_CASE("a tile product, whole and partial, of rows and of columns") {
  for (const int num_rows : {1, 3, 4, 5, 8, 11}) {
    for (const int num_k : {0, 1, 2, 7, 8}) {
      for (const int num_lanes : {8, 16}) {
        check<false>(num_rows, num_k, num_lanes, false);
        check<true>(num_rows, num_k, num_lanes, true);
      }
    }
  }
}
