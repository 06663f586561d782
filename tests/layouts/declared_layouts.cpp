#include "tests/layouts/declared_layouts.h"

#include <doctest/doctest.h>

namespace flashcheck {
namespace {

constexpr int64_t NB = kPages, P = kTokens, H = kHeads, D = kDims, L = kLayers, l = kLayer;

using Index = std::vector<int64_t>;

}  // namespace

const std::vector<DeclaredLayout>& declared_layouts() {
  using I = int64_t;
  static const auto nhd = [](I n, I t, I h, I e, bool) { return Index{n, t, h, e}; };
  static const auto hnd = [](I n, I t, I h, I e, bool) { return Index{n, h, t, e}; };
  static const std::vector<DeclaredLayout> kDeclared = {
      {"fa-nhd", {NB, P, H, D}, nhd},
      {"fa-dense", {NB, P, H, D}, nhd},
      {"vllm-kv-first-nhd",
       {2, NB, P, H, D},
       [](I n, I t, I h, I e, bool v) {
         return Index{v, n, t, h, e};
       }},
      {"vllm-kv-first-hnd",
       {2, NB, H, P, D},
       [](I n, I t, I h, I e, bool v) {
         return Index{v, n, h, t, e};
       }},
      {"vllm-blocks-first-nhd",
       {NB, 2, P, H, D},
       [](I n, I t, I h, I e, bool v) {
         return Index{n, v, t, h, e};
       }},
      {"vllm-blocks-first-hnd",
       {NB, 2, H, P, D},
       [](I n, I t, I h, I e, bool v) {
         return Index{n, v, h, t, e};
       }},
      {"vllm-packed",
       {L, NB, P, H, 2 * D},
       [](I n, I t, I h, I e, bool v) {
         return Index{l, n, t, h, v * D + e};
       }},
      {"vllm-lbnhc",
       {L, NB, P, H, 2 * D},
       [](I n, I t, I h, I e, bool v) {
         return Index{l, n, t, h, v * D + e};
       }},
      {"vllm-lbhnc",
       {L, NB, H, P, 2 * D},
       [](I n, I t, I h, I e, bool v) {
         return Index{l, n, h, t, v * D + e};
       }},
      {"vllm-lhbnc",
       {L, H, NB, P, 2 * D},
       [](I n, I t, I h, I e, bool v) {
         return Index{l, h, n, t, v * D + e};
       }},
      {"vllm-blhnc",
       {NB, L, H, P, 2 * D},
       [](I n, I t, I h, I e, bool v) {
         return Index{n, l, h, t, v * D + e};
       }},
      {"vllm-blnhc",
       {NB, L, P, H, 2 * D},
       [](I n, I t, I h, I e, bool v) {
         return Index{n, l, t, h, v * D + e};
       }},
      {"vllm-bhlnc",
       {NB, H, L, P, 2 * D},
       [](I n, I t, I h, I e, bool v) {
         return Index{n, h, l, t, v * D + e};
       }},
      {"vllm-cross-layer",
       {NB, L, 2, P, H, D},
       [](I n, I t, I h, I e, bool v) { return Index{n, l, v, t, h, e}; }},
      {"flashinfer-nhd", {NB, P, H, D}, nhd},
      {"flashinfer-hnd", {NB, H, P, D}, hnd},
      {"flashinfer-nhd-5d",
       {NB, 2, P, H, D},
       [](I n, I t, I h, I e, bool v) {
         return Index{n, v, t, h, e};
       }},
      {"flashinfer-hnd-5d",
       {NB, 2, H, P, D},
       [](I n, I t, I h, I e, bool v) {
         return Index{n, v, h, t, e};
       }},
      {"sglang-token-pool",
       {NB * P, H, D},
       [](I n, I t, I h, I e, bool) {
         return Index{n * P + t, h, e};
       }},
      {"trtllm-pool",
       {NB, L, 2, H * P * D},
       [](I n, I t, I h, I e, bool v) {
         return Index{n, l, v, (h * P + t) * D + e};
       }},
      {"mistralrs-hnd", {NB, H, P, D}, hnd},
      {"llama-cpp",
       {NB, P, H * D},
       [](I n, I t, I h, I e, bool) {
         return Index{n, t, h * D + e};
       }},
      {"mla-latent",
       {NB, P, kRank + kRope},
       [](I n, I t, I, I e, bool) {
         return Index{n, t, e};
       }},
  };
  return kDeclared;
}

int64_t row_major(const std::vector<int64_t>& shape, const std::vector<int64_t>& index) {
  REQUIRE(shape.size() == index.size());
  int64_t at = 0;
  for (size_t axis = 0; axis < shape.size(); ++axis) {
    REQUIRE(index[axis] < shape[axis]);
    at = at * shape[axis] + index[axis];
  }
  return at;
}

}  // namespace flashcheck
