#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace flashcheck {

/// How an engine lays its KV cache out: the axes of k and of v as they lie in memory, outermost
/// first and row-major, a letter an axis:
///
///   pages   B num_blocks   b batch_size   u num_streams   p num_slots / page_block_size
///   tokens  N page_block_size   s seqlen_k   c kv_size   t, y page_block_size split in two
///   heads   H num_heads_k   1 one latent head
///   dims    D head_dim   d, x head_dim split in two   M kv_lora_rank + qk_rope_head_dim
///   others  L num_layers   2 k, then v
struct Layout {
  std::string_view name;  // "vllm-packed"
  std::string_view engine;
  std::string_view k_axes, v_axes;
  std::string_view note;  // what the engine declares, and what it does with it
};

/// Every layout, an engine's together.
std::span<const Layout> layouts();
/// Null if there is none of that name.
const Layout* find_layout(std::string_view name);

enum class CacheTensor : uint8_t { kK, kV };

/// The names of the sizes that say how large a cache of this layout is, outermost first; with
/// `num_layers` there is `layer`.
std::vector<std::string_view> parameters_of(const Layout& layout);
/// Whether num_layers and layer may be left out: layers are outermost, so that one of them is a
/// tensor of its own.
bool layers_are_optional(const Layout& layout);
/// Whether k and v lie in one allocation.
bool has_one_tensor(const Layout& layout);

/// k or v as a view of rank 4: (page or sequence, token, head, dim), in elements.
struct LayoutView {
  std::vector<int64_t> shape, strides;
  int64_t offset = 0;    // from where the layout begins
  int64_t elements = 0;  // of the whole allocation
};

/// Sizes by the names that parameters_of gives, none negative.
using LayoutSizes = std::map<std::string_view, int64_t>;

/// Nothing if a product does not fit an int64.
/// Preconditions: the layout is a view of that tensor (why_no_view); every size is given; layer <
/// num_layers; page_block_size divides num_slots.
std::optional<LayoutView> expand(const Layout& layout, CacheTensor tensor,
                                 const LayoutSizes& sizes);

/// Why the tensor is no view of rank 4 whose last stride is 1; empty if it is one.
std::string why_no_view(const Layout& layout, CacheTensor tensor);
/// Whether both k and v are one.
bool is_view(const Layout& layout);
/// The order of the axes that puts page, token, head and dim in order, parts of one side by side:
/// of a tensor that is no view, what to permute by before a reshape makes it one.
std::vector<size_t> permutation_to_nhd(std::string_view axes);

/// The stride of a dim (0 page, 1 token, 2 head, 3 dim) as a formula: "2*P*H*D".
/// Precondition: the layout is a view of k.
std::string stride_formula(const Layout& layout, size_t dim);
/// From one layer to the next; empty if a tensor holds one layer.
std::string layer_stride_formula(const Layout& layout);
/// Where v begins after k: "+ P*H*D", or "own tensor".
std::string v_base_formula(const Layout& layout);
/// The axes by their symbols, separated: "NB, 2, P, H, D".
std::string symbols_of(std::string_view axes, std::string_view separator);

}  // namespace flashcheck
