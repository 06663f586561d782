#include "src/layouts/layout.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <limits>
#include <numeric>
#include <set>
#include <string>
#include <vector>

#include "src/load/case_keys.h"
#include "tests/layouts/declared_layouts.h"

namespace flashcheck {
namespace {

const LayoutSizes kSizes{{"num_blocks", kPages},
                         {"batch_size", kPages},
                         {"num_streams", kPages},
                         {"num_slots", kPages* kTokens},
                         {"page_block_size", kTokens},
                         {"seqlen_k", kTokens},
                         {"kv_size", kTokens},
                         {"num_heads_k", kHeads},
                         {"head_dim", kDims},
                         {"num_layers", kLayers},
                         {"layer", kLayer},
                         {"kv_lora_rank", kRank},
                         {"qk_rope_head_dim", kRope}};

int64_t at(const LayoutView& view, const std::vector<int64_t>& index) {
  return std::inner_product(index.begin(), index.end(), view.strides.begin(), view.offset);
}

/// Calls f for every index of a view of rank 4.
template <typename F>
void for_each_index(const std::vector<int64_t>& shape, F f) {
  for (int64_t n = 0; n < shape[0]; ++n) {
    for (int64_t t = 0; t < shape[1]; ++t) {
      for (int64_t h = 0; h < shape[2]; ++h) {
        for (int64_t e = 0; e < shape[3]; ++e) f(n, t, h, e);
      }
    }
  }
}

TEST_CASE("every view reaches the elements that the engine's own indexing reaches") {
  std::set<std::string_view> known;
  for (const DeclaredLayout& declared : declared_layouts()) {
    CAPTURE(declared.name);
    known.insert(declared.name);
    const Layout* layout = find_layout(declared.name);
    REQUIRE(layout);
    const int64_t elements = std::accumulate(declared.shape.begin(), declared.shape.end(),
                                             int64_t{1}, std::multiplies<>());
    for (const CacheTensor tensor : {CacheTensor::kK, CacheTensor::kV}) {
      const bool is_v = tensor == CacheTensor::kV;
      const std::optional<LayoutView> view = expand(*layout, tensor, kSizes);
      REQUIRE(view);
      CHECK(view->elements == elements);
      int64_t different = 0, reached = 0;
      for_each_index(view->shape, [&](int64_t n, int64_t t, int64_t h, int64_t e) {
        ++reached;
        different +=
            at(*view, {n, t, h, e}) != row_major(declared.shape, declared.index(n, t, h, e, is_v));
      });
      CHECK(different == 0);
      if (declared.name != "mla-latent") CHECK(reached == kPages * kTokens * kHeads * kDims);
    }
  }
  for (const Layout& layout : layouts()) {
    CAPTURE(layout.name);
    CHECK(is_view(layout) == known.contains(layout.name));
  }
}

TEST_CASE("k and v of one tensor share no element, but for a latent row, of which v is a part") {
  for (const Layout& layout : layouts()) {
    if (!is_view(layout) || !has_one_tensor(layout)) continue;
    CAPTURE(layout.name);
    std::set<int64_t> k, v;
    const LayoutView k_view = *expand(layout, CacheTensor::kK, kSizes);
    const LayoutView v_view = *expand(layout, CacheTensor::kV, kSizes);
    for_each_index(k_view.shape, [&](auto... index) { k.insert(at(k_view, {index...})); });
    for_each_index(v_view.shape, [&](auto... index) { v.insert(at(v_view, {index...})); });
    CHECK(*v.rbegin() < k_view.elements);
    std::vector<int64_t> shared;
    std::ranges::set_intersection(k, v, std::back_inserter(shared));
    if (layout.name == "mla-latent") {
      CHECK(shared.size() == v.size());
    } else {
      CHECK(shared.empty());
    }
  }
}

TEST_CASE("the table of the survey, in numbers") {
  struct Row {
    const char* name;
    std::vector<int64_t> strides;
    int64_t v_base, layer_stride;
  };
  constexpr int64_t NB = kPages, P = kTokens, H = kHeads, D = kDims, L = kLayers;
  const std::vector<Row> rows = {
      {"vllm-kv-first-nhd", {P * H * D, H * D, D, 1}, NB * P * H * D, 0},
      {"vllm-blocks-first-hnd", {2 * H * P * D, D, P * D, 1}, H * P * D, 0},
      {"vllm-lbnhc", {P * H * 2 * D, H * 2 * D, 2 * D, 1}, D, NB * P * H * 2 * D},
      {"vllm-lhbnc", {P * 2 * D, 2 * D, NB * P * 2 * D, 1}, D, NB * P * H * 2 * D},
      {"vllm-blhnc", {L * H * P * 2 * D, 2 * D, P * 2 * D, 1}, D, H * P * 2 * D},
      {"vllm-blnhc", {L * P * H * 2 * D, H * 2 * D, 2 * D, 1}, D, P * H * 2 * D},
      {"vllm-bhlnc", {H * L * P * 2 * D, 2 * D, L * P * 2 * D, 1}, D, P * 2 * D},
      {"vllm-cross-layer", {L * 2 * P * H * D, H * D, D, 1}, P * H * D, 2 * P * H * D},
      {"trtllm-pool", {L * 2 * H * P * D, D, P * D, 1}, H * P * D, 2 * H * P * D},
  };
  for (const Row& row : rows) {
    CAPTURE(row.name);
    const Layout& layout = *find_layout(row.name);
    const LayoutView k = *expand(layout, CacheTensor::kK, kSizes);
    const LayoutView v = *expand(layout, CacheTensor::kV, kSizes);
    CHECK(k.strides == row.strides);
    CHECK(v.strides == row.strides);
    CHECK(v.offset - k.offset == row.v_base);
    CHECK(k.offset == kLayer * row.layer_stride);
  }
}

/// A layout that is no view: the tensor as declared, with `x` elements in a split axis.
struct NoView {
  const char* name;
  CacheTensor tensor;
  std::vector<int64_t> shape;
  std::function<std::vector<int64_t>(int64_t n, int64_t t, int64_t h, int64_t e)> index;
};

TEST_CASE("the permutation that is told puts every element where a usable layout has it") {
  constexpr int64_t NB = 5, P = 6, H = 3, D = 8, x = 2;
  using I = int64_t;
  using Index = std::vector<int64_t>;
  const auto split_k = [](I n, I t, I h, I e) { return Index{n, h, e / x, t, e % x}; };
  const auto tokens_last = [](I n, I t, I h, I e) { return Index{n, h, e, t}; };
  const std::vector<NoView> rows = {
      {"vllm-x-split", CacheTensor::kK, {NB, H, D / x, P, x}, split_k},
      {"vllm-x-split", CacheTensor::kV, {NB, H, D, P}, tokens_last},
      {"mistralrs-standard", CacheTensor::kK, {NB, H, D / x, P, x}, split_k},
      {"mistralrs-standard", CacheTensor::kV, {NB, H, D, P}, tokens_last},
      {"aiter-vectorized-5d", CacheTensor::kK, {NB, H, D / x, P, x}, split_k},
      {"aiter-vectorized-5d",
       CacheTensor::kV,
       {NB, H, P / x, D, x},
       [](I n, I t, I h, I e) {
         return Index{n, h, t / x, e, t % x};
       }},
      {"vllm-cpu-vec", CacheTensor::kK, {NB, H, D, P}, tokens_last},
      {"llama-cpp-v-trans", CacheTensor::kV, {NB, H, D, P}, tokens_last},
  };
  size_t refused = 0;
  for (const Layout& layout : layouts()) {
    for (const CacheTensor tensor : {CacheTensor::kK, CacheTensor::kV}) {
      refused += !why_no_view(layout, tensor).empty();
    }
  }
  CHECK(refused == rows.size());

  for (const NoView& row : rows) {
    CAPTURE(row.name);
    const Layout& layout = *find_layout(row.name);
    const std::string_view axes = row.tensor == CacheTensor::kK ? layout.k_axes : layout.v_axes;
    const std::vector<size_t> order = permutation_to_nhd(axes);
    REQUIRE(order.size() == row.shape.size());
    CHECK(why_no_view(layout, row.tensor).find("permute(0,") != std::string::npos);
    std::vector<int64_t> shape;
    for (const size_t axis : order) shape.push_back(row.shape[axis]);
    int64_t different = 0;
    for_each_index({NB, P, H, D}, [&](I n, I t, I h, I e) {
      const Index declared = row.index(n, t, h, e);
      Index permuted;
      for (const size_t axis : order) permuted.push_back(declared[axis]);
      different += row_major(shape, permuted) != row_major({NB, P, H, D}, {n, t, h, e});
    });
    CHECK(different == 0);
  }
}

TEST_CASE("sizes whose product does not fit are no view") {
  LayoutSizes large = kSizes;
  large["num_blocks"] = std::numeric_limits<int64_t>::max() / 2;
  CHECK_FALSE(expand(*find_layout("fa-nhd"), CacheTensor::kK, large));
  large["num_blocks"] = 0;
  large["page_block_size"] = std::numeric_limits<int64_t>::max();
  CHECK_FALSE(expand(*find_layout("fa-nhd"), CacheTensor::kK, large));
  large["page_block_size"] = kTokens;
  const std::optional<LayoutView> empty = expand(*find_layout("fa-nhd"), CacheTensor::kK, large);
  REQUIRE(empty);
  CHECK(empty->elements == 0);
}

TEST_CASE("names, parameters and formulas") {
  std::set<std::string_view> names, parameters{"name", "base"};
  for (const Layout& layout : layouts()) {
    CHECK(names.insert(layout.name).second);
    CHECK(find_layout(layout.name) == &layout);
    for (const std::string_view parameter : parameters_of(layout)) parameters.insert(parameter);
  }
  CHECK(find_layout("fa_nhd") == nullptr);
  CHECK(parameters == std::set<std::string_view>(kLayoutKeys.begin(), kLayoutKeys.end()));
  CHECK(stride_formula(*find_layout("vllm-bhlnc"), 0) == "2*H*L*P*D");
  CHECK(stride_formula(*find_layout("vllm-bhlnc"), 3) == "1");
  CHECK(v_base_formula(*find_layout("vllm-kv-first-hnd")) == "+ NB*H*P*D");
  CHECK(v_base_formula(*find_layout("fa-nhd")) == "own tensor");
  CHECK(why_no_view(*find_layout("vllm-x-split"), CacheTensor::kK) ==
        "k lies as (NB, H, D/x, P, x): dim is split over two axes, so that it needs a view of rank "
        "5; permute(0,3,1,2,4).contiguous(), reshaped to (NB, P, H, D), can be used");
  CHECK(why_no_view(*find_layout("llama-cpp-v-trans"), CacheTensor::kV) ==
        "v lies as (ns, H, D, S): its dim has the stride S, where wrappers demand 1; "
        "permute(0,3,1,2).contiguous() can be used");
}

}  // namespace
}  // namespace flashcheck
