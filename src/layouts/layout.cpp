#include "src/layouts/layout.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <numeric>

#include "src/spec/checked.h"

namespace flashcheck {
namespace {

enum class Role : uint8_t { kPage, kToken, kHead, kDim, kLayer, kKv };

struct Axis {
  char letter;
  Role role;
  std::string_view symbol;
  std::array<std::string_view, 2> parameters = {};
};

constexpr auto kAxes = std::to_array<Axis>({
    {'B', Role::kPage, "NB", {"num_blocks"}},
    {'b', Role::kPage, "B", {"batch_size"}},
    {'u', Role::kPage, "ns", {"num_streams"}},
    {'p', Role::kPage, "NS/P", {"num_slots"}},
    {'N', Role::kToken, "P", {"page_block_size"}},
    {'s', Role::kToken, "S", {"seqlen_k"}},
    {'c', Role::kToken, "S", {"kv_size"}},
    {'t', Role::kToken, "P/x"},
    {'y', Role::kToken, "x"},
    {'H', Role::kHead, "H", {"num_heads_k"}},
    {'1', Role::kHead, "1"},
    {'D', Role::kDim, "D", {"head_dim"}},
    {'d', Role::kDim, "D/x"},
    {'x', Role::kDim, "x"},
    {'M', Role::kDim, "(R+E)", {"kv_lora_rank", "qk_rope_head_dim"}},
    {'L', Role::kLayer, "L", {"num_layers", "layer"}},
    {'2', Role::kKv, "2"},
});

const Axis& axis_of(char letter) { return *std::ranges::find(kAxes, letter, &Axis::letter); }

bool has(std::string_view axes, char letter) { return axes.find(letter) != std::string_view::npos; }

/// The axes inside the only one of a role: the product of their sizes is its stride.
std::string_view inside(std::string_view axes, Role role) {
  const auto outer =
      std::ranges::find_if(axes, [&](char letter) { return axis_of(letter).role == role; });
  return axes.substr(static_cast<size_t>(outer - axes.begin()) + 1);
}

std::optional<int64_t> size_of(char letter, const LayoutSizes& sizes) {
  switch (letter) {
    case '1':
      return 1;
    case '2':
      return 2;
    case 'p':
      return sizes.at("num_slots") / sizes.at("page_block_size");
    case 'M':
      return checked_add(sizes.at("kv_lora_rank"), sizes.at("qk_rope_head_dim"));
    default:
      return sizes.at(axis_of(letter).parameters[0]);
  }
}

std::optional<int64_t> num_elements(std::string_view axes, const LayoutSizes& sizes) {
  std::optional<int64_t> product = 1;
  for (const char letter : axes) {
    const std::optional<int64_t> size = size_of(letter, sizes);
    product = product && size ? checked_mul(*product, *size) : std::nullopt;
  }
  return product;
}

/// "2*P*H*D": a product, whose factor of 2 comes first as a formula has it.
std::string product_of(std::string_view axes) {
  std::vector<std::string_view> factors;
  for (const char letter : axes) {
    if (letter != '1') factors.push_back(axis_of(letter).symbol);
  }
  std::stable_partition(factors.begin(), factors.end(),
                        [](std::string_view factor) { return factor == "2"; });
  return factors.empty() ? "1" : fmt::format("{}", fmt::join(factors, "*"));
}

constexpr std::array<Role, 4> kDims{Role::kPage, Role::kToken, Role::kHead, Role::kDim};

}  // namespace

const Layout* find_layout(std::string_view name) {
  const auto found = std::ranges::find(layouts(), name, &Layout::name);
  return found == layouts().end() ? nullptr : &*found;
}

std::vector<std::string_view> parameters_of(const Layout& layout) {
  std::vector<std::string_view> names;
  for (const char letter : layout.k_axes) {
    for (const std::string_view name : axis_of(letter).parameters) {
      if (!name.empty()) names.push_back(name);
    }
  }
  return names;
}

bool layers_are_optional(const Layout& layout) { return layout.k_axes.starts_with('L'); }

bool has_one_tensor(const Layout& layout) {
  return has(layout.k_axes, '2') || has(layout.k_axes, 'M');
}

std::optional<LayoutView> expand(const Layout& layout, CacheTensor tensor,
                                 const LayoutSizes& sizes) {
  const bool is_v = tensor == CacheTensor::kV;
  const std::string_view axes = is_v ? layout.v_axes : layout.k_axes;
  const auto stride_of = [&](Role role) { return num_elements(inside(axes, role), sizes); };
  const std::optional<int64_t> elements = num_elements(axes, sizes);
  if (!elements) return std::nullopt;

  LayoutView view{.elements = *elements};
  for (const Role role : kDims) {
    const auto letter =
        std::ranges::find_if(axes, [&](char axis) { return axis_of(axis).role == role; });
    const std::optional<int64_t> stride = stride_of(role);
    if (!stride) return std::nullopt;
    // Of a latent row v is the first part.
    view.shape.push_back(*letter == 'M' && is_v ? sizes.at("kv_lora_rank")
                                                : *size_of(*letter, sizes));
    view.strides.push_back(*stride);
  }
  const auto advance = [&](Role role, int64_t steps) {
    const std::optional<int64_t> stride = stride_of(role);
    const std::optional<int64_t> distance = stride ? checked_mul(*stride, steps) : std::nullopt;
    const auto offset = distance ? checked_add(view.offset, *distance) : std::nullopt;
    view.offset = offset.value_or(0);
    return offset.has_value();
  };
  if (has(axes, 'L') && !advance(Role::kLayer, sizes.at("layer"))) return std::nullopt;
  if (has(axes, '2') && is_v && !advance(Role::kKv, 1)) return std::nullopt;
  return view;
}

std::string why_no_view(const Layout& layout, CacheTensor tensor) {
  const bool is_v = tensor == CacheTensor::kV;
  const std::string_view axes = is_v ? layout.v_axes : layout.k_axes;
  std::string reason;
  if (has(axes, 'd') || has(axes, 't')) {
    reason = fmt::format("{} is split over two axes, so that it needs a view of rank 5",
                         has(axes, 'd') ? "dim" : "token");
  } else if (axis_of(axes.back()).role != Role::kDim) {
    reason = fmt::format("its dim has the stride {}, where wrappers demand 1",
                         product_of(inside(axes, Role::kDim)));
  } else {
    return "";
  }
  const std::vector<size_t> order = permutation_to_nhd(axes);
  return fmt::format("{} lies as ({}): {}; permute({}).contiguous(){} can be used",
                     is_v ? "v" : "k", symbols_of(axes, ", "), reason, fmt::join(order, ","),
                     order.size() > 4 ? ", reshaped to (NB, P, H, D)," : "");
}

bool is_view(const Layout& layout) {
  return why_no_view(layout, CacheTensor::kK).empty() &&
         why_no_view(layout, CacheTensor::kV).empty();
}

std::vector<size_t> permutation_to_nhd(std::string_view axes) {
  std::vector<size_t> order(axes.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::ranges::stable_sort(order, {}, [&](size_t axis) { return axis_of(axes[axis]).role; });
  return order;
}

std::string stride_formula(const Layout& layout, size_t dim) {
  return product_of(inside(layout.k_axes, kDims[dim]));
}

std::string layer_stride_formula(const Layout& layout) {
  return has(layout.k_axes, 'L') ? product_of(inside(layout.k_axes, Role::kLayer)) : "";
}

std::string v_base_formula(const Layout& layout) {
  if (!has_one_tensor(layout)) return "own tensor";
  return has(layout.k_axes, '2') ? "+ " + product_of(inside(layout.k_axes, Role::kKv)) : "+ 0";
}

std::string symbols_of(std::string_view axes, std::string_view separator) {
  std::vector<std::string_view> symbols;
  for (const char letter : axes) symbols.push_back(axis_of(letter).symbol);
  return fmt::format("{}", fmt::join(symbols, separator));
}

}  // namespace flashcheck
