#include "src/hazards/tile_sizes.h"

namespace flashcheck {
namespace {

TileSizes v3_tile(const LaunchParams& launch) {
  const int64_t longest = launch.seqlen_q;
  const int64_t rows = longest <= 64 ? 64 : longest <= 128 || launch.d != 64 ? 128 : 192;
  int64_t keys = 64;
  if (launch.d == 64) keys = 128;
  if (launch.d == 128) keys = launch.is_causal ? 128 : 176;
  if (launch.d == 256) keys = rows == 64 ? 96 : 80;
  return {rows, rows, keys};
}

TileSizes v2_flat_tile(const LaunchParams& launch) {
  if (launch.d > 256) return {32, 64, 32};
  if (launch.d > 192) return {64, 128, 64};
  if (launch.d > 160) return {128, 128, 64};
  if (launch.d > 64) return {launch.is_causal ? 64 : 128, 128, 64};
  return {128, 128, 128};
}

}  // namespace

TileSizes tile_sizes(const WrapperFunction& function, const LaunchParams& launch) {
  if (function.wrapper == Wrapper::kCandleFlashAttnV3) return v3_tile(launch);
  if (!function.paged) return v2_flat_tile(launch);
  return launch.d > 256 ? TileSizes{32, 64, 32} : TileSizes{64, 64, 32};
}

}  // namespace flashcheck
