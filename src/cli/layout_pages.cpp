#include "src/cli/layout_pages.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>
#include <string_view>
#include <vector>

#include "src/report/text_block.h"

namespace flashcheck {
namespace {

constexpr std::array kTensors{CacheTensor::kK, CacheTensor::kV};

std::string row(std::string_view name, std::string_view memory, std::string_view page,
                std::string_view token, std::string_view head, std::string_view v,
                std::string_view engine) {
  return fmt::format("{:<22} {:<12} {:<10} {:<6} {:<9} {:<11} {}\n", name, memory, page, token,
                     head, v, engine);
}

/// Small enough to be read, large enough to be accepted.
const LayoutSizes& example_sizes() {
  static const LayoutSizes kSizes{
      {"num_blocks", 4},       {"batch_size", 4},       {"num_streams", 4}, {"num_slots", 128},
      {"seqlen_k", 32},        {"page_block_size", 32}, {"kv_size", 256},   {"num_heads_k", 2},
      {"head_dim", 64},        {"num_layers", 3},       {"layer", 1},       {"kv_lora_rank", 512},
      {"qk_rope_head_dim", 64}};
  return kSizes;
}

std::string view_text(const LayoutView& view) {
  return fmt::format("shape [{}], strides [{}], offset {}", fmt::join(view.shape, ", "),
                     fmt::join(view.strides, ", "), view.offset);
}

/// The example as a case file has it: the entries of k and v in `tensors`.
std::string example_entries(const Layout& layout) {
  std::string sizes;
  for (const std::string_view name : parameters_of(layout)) {
    sizes += fmt::format(", \"{}\": {}", name, example_sizes().at(name));
  }
  std::string entries;
  for (const std::string_view tensor : {"k", "v"}) {
    entries += fmt::format(
        "    \"{}\": {{\"dtype\": \"f16\",\n          \"layout\": {{\"name\": \"{}\"{}}}}},\n",
        tensor, layout.name, sizes);
  }
  return entries;
}

std::string example(const Layout& layout, int width) {
  const LayoutView k = *expand(layout, CacheTensor::kK, example_sizes());
  const LayoutView v = *expand(layout, CacheTensor::kV, example_sizes());
  std::string sizes;
  for (const std::string_view name : parameters_of(layout)) {
    sizes += fmt::format("{}{} {}", sizes.empty() ? "" : ", ", name, example_sizes().at(name));
  }
  return fmt::format("\nWith {}:\n", sizes) + labelled("k", view_text(k), width) +
         labelled("v", view_text(v), width) +
         labelled("storage",
                  has_one_tensor(layout) ? fmt::format("{} elements, k and v in them", k.elements)
                                         : fmt::format("{} elements each", k.elements),
                  width) +
         "\nIn the `tensors` of a case file:\n\n" + example_entries(layout);
}

std::string nested(const std::vector<std::vector<int64_t>>& rows) {
  std::string text;
  for (const std::vector<int64_t>& each : rows) {
    text += fmt::format("{}[{}]", text.empty() ? "" : ", ", fmt::join(each, ", "));
  }
  return "[" + text + "]";
}

}  // namespace

std::string layouts_list(int width) {
  std::string list = row("name", "in memory", "page", "token", "head", "v at", "engine");
  std::string others;
  for (const Layout& layout : layouts()) {
    if (is_view(layout)) {
      list += row(layout.name, symbols_of(layout.k_axes, " "), stride_formula(layout, 0),
                  stride_formula(layout, 1), stride_formula(layout, 2), v_base_formula(layout),
                  layout.engine);
      continue;
    }
    others += fmt::format("\n{}: {}\n", layout.name, layout.engine);
    for (const CacheTensor tensor : kTensors) {
      if (const std::string why = why_no_view(layout, tensor); !why.empty()) {
        others += labelled("", why, width);
      }
    }
  }
  list += "\n";
  for (const std::string& line :
       wrap("Axes in memory are outermost first, strides of page, token and head are in elements, "
            "and that of a dim is 1. NB pages of P tokens (or B sequences, or ns streams, of S "
            "tokens; NS slots), H heads of k and v, D dims, L layers, R kv_lora_rank, E "
            "qk_rope_head_dim. Layer l begins l strides of L further on.",
            width)) {
    list += line + "\n";
  }
  return list + "\nNo view of rank 4 with the last stride 1, so that they are refused:\n" + others +
         "\n`flashcheck layouts NAME` shows one with numbers, and an example for a case file.\n";
}

std::string layout_page(const Layout& layout, int width) {
  std::string page = fmt::format("{}: {}\n", layout.name, layout.engine);
  page += labelled("note", layout.note, width);
  if (!is_view(layout)) {
    for (const CacheTensor tensor : kTensors) {
      if (const std::string why = why_no_view(layout, tensor); !why.empty()) {
        page += labelled("refused", why, width);
      }
    }
    return page;
  }
  const std::string layer = layer_stride_formula(layout);
  page += labelled("memory", symbols_of(layout.k_axes, ", ") + ", outermost first", width);
  page += labelled("strides",
                   fmt::format("page {}, token {}, head {}, dim 1{}", stride_formula(layout, 0),
                               stride_formula(layout, 1), stride_formula(layout, 2),
                               layer.empty() ? "" : ", layer " + layer),
                   width);
  page += labelled(
      "v", has_one_tensor(layout) ? "k's begin " + v_base_formula(layout) : "a tensor of its own",
      width);
  if (layers_are_optional(layout)) {
    page += labelled("layers", "leave num_layers and layer out where each has a tensor of its own",
                     width);
  }
  return page + example(layout, width);
}

std::string page_table_forms(const PageTable& table) {
  const CsrPageTable csr = to_csr(table);
  const ReqToToken tokens = to_req_to_token(table);
  return fmt::format(
      "  block_table   {}\n"
      "  lengths       [{}]\n"
      "  csr           {{\"csr\": {{\"indptr\": [{}], \"indices\": [{}], \"last_page_len\": "
      "[{}]}}}}\n"
      "  req_to_token  {{\"req_to_token\": {}, \"seq_lens\": [{}]}}\n",
      nested(table.rows), fmt::join(table.seqlens, ", "), fmt::join(csr.indptr, ", "),
      fmt::join(csr.indices, ", "), fmt::join(csr.last_page_len, ", "), nested(tokens.rows),
      fmt::join(tokens.seq_lens, ", "));
}

}  // namespace flashcheck
