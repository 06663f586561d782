#pragma once

#include <cstdint>

namespace flashcheck {

/// The lanes that tile_gemm computes at once: lane counts are rounded up to a multiple of it.
constexpr int kPanelLanes = 8;

/// C (+)= A B over one tile, in f32, the sum over k in ascending order.
///   A [num_rows][num_k]  element (m, k) at a[m * a_row_stride + k * a_k_stride]
///   B [num_k][kLanes]    lanes contiguous
///   C [num_rows][kLanes]
/// Of the lanes the first num_lanes (a multiple of kPanelLanes) are computed. Lanes are contiguous
/// in B and C, so nothing is shuffled and the inner loops are plain vector code.
template <int kLanes, bool kAccumulate>
class TileGemm {
 public:
  static void multiply(const float* a, int64_t a_row_stride, int64_t a_k_stride, const float* b,
                       float* c, int num_rows, int num_k, int num_lanes) {
    for (int lane = 0; lane < num_lanes; lane += kPanelLanes) {
      int m = 0;
      for (; m + kPanelRows <= num_rows; m += kPanelRows) {
        panel<kPanelRows>(a + m * a_row_stride, a_row_stride, a_k_stride, b + lane,
                          c + m * kLanes + lane, num_k);
      }
      for (; m < num_rows; ++m) {
        panel<1>(a + m * a_row_stride, a_row_stride, a_k_stride, b + lane, c + m * kLanes + lane,
                 num_k);
      }
    }
  }

 private:
  // With 8 lanes 8 accumulators of four floats: with two of B and a broadcast they fit the sixteen
  // registers of x86-64.
  static constexpr int kPanelRows = 4;

  template <int kRows>
  static void panel(const float* a, int64_t a_row_stride, int64_t a_k_stride, const float* b,
                    float* c, int num_k) {
    float sum[kRows][kPanelLanes];
    for (int m = 0; m < kRows; ++m) {
      for (int l = 0; l < kPanelLanes; ++l) sum[m][l] = kAccumulate ? c[m * kLanes + l] : 0.0f;
    }
    for (int k = 0; k < num_k; ++k) {
      for (int m = 0; m < kRows; ++m) {
        const float factor = a[m * a_row_stride + k * a_k_stride];
        for (int l = 0; l < kPanelLanes; ++l) sum[m][l] += factor * b[k * kLanes + l];
      }
    }
    for (int m = 0; m < kRows; ++m) {
      for (int l = 0; l < kPanelLanes; ++l) c[m * kLanes + l] = sum[m][l];
    }
  }
};

}  // namespace flashcheck
