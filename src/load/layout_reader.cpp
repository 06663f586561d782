#include "src/load/layout_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <string>
#include <vector>

#include "src/load/case_file_rules.h"
#include "src/load/case_keys.h"
#include "src/load/json_reader.h"
#include "src/spec/checked.h"

namespace flashcheck {
namespace {

/// Whether the tensor has none of the keys whose part `key` takes.
bool expect_none_beside(const JsonValue& tensor, std::string_view key,
                        std::initializer_list<std::string_view> others, Complaints& complaints) {
  bool is_good = true;
  for (const std::string_view other : others) {
    const JsonValue* given = find_given(tensor, other);
    if (!given) continue;
    complaints.add(complaint::kContradiction, *given,
                   fmt::format("no `{}` beside `{}`, which says it", other, key),
                   describe(*given, complaints.text()));
    is_good = false;
  }
  return is_good;
}

const Layout* read_name(const JsonValue& layout, Complaints& complaints) {
  const JsonValue* name = require(layout, "name", complaints);
  if (!name) return nullptr;
  std::vector<std::string_view> known;
  for (const Layout& each : layouts()) known.push_back(each.name);
  const std::optional<size_t> index = read_word(*name, known, complaints);
  return index ? &layouts()[*index] : nullptr;
}

/// The layout's sizes: each that it has, none that it has not.
std::optional<LayoutSizes> read_sizes(const JsonValue& object, const Layout& layout,
                                      Complaints& complaints) {
  const std::vector<std::string_view> parameters = parameters_of(layout);
  std::vector<std::string_view> keys{"name"};
  keys.insert(keys.end(), parameters.begin(), parameters.end());
  keys.push_back("base");
  bool is_good = expect_keys(object, keys, complaints);

  LayoutSizes sizes;
  const bool is_of_one_layer = layers_are_optional(layout) && !find_given(object, "num_layers") &&
                               !find_given(object, "layer");
  if (is_of_one_layer) sizes = {{"num_layers", 1}, {"layer", 0}};
  for (const std::string_view name : parameters) {
    if (sizes.contains(name)) continue;
    const JsonValue* given = find_given(object, name);
    if (!given) {
      complaints.add(complaint::kMissingKey, object,
                     fmt::format("the key {}, a size of {}", in_quotes(name), layout.name),
                     "an object without it");
      is_good = false;
      continue;
    }
    const std::optional<int64_t> size = read_usize(*given, complaints);
    is_good = is_good && size;
    sizes[name] = size.value_or(0);
  }
  return is_good ? std::optional(sizes) : std::nullopt;
}

/// Whether the sizes, all of which are there, can hold together.
bool expect_fitting(const JsonValue& object, const LayoutSizes& sizes, Complaints& complaints) {
  const auto layers = sizes.find("num_layers");
  if (layers != sizes.end() && sizes.at("layer") >= layers->second) {
    complaints.add_member(complaint::kNumberOutOfRange, object, "layer",
                          fmt::format("a layer below num_layers, {}", layers->second),
                          fmt::format("{}", sizes.at("layer")));
    return false;
  }
  const auto slots = sizes.find("num_slots");
  if (slots == sizes.end()) return true;
  const int64_t page = sizes.at("page_block_size");
  if (page > 0 && slots->second % page == 0) return true;
  complaints.add_member(complaint::kNumberOutOfRange, object, "num_slots",
                        fmt::format("whole pages of page_block_size {}", page),
                        fmt::format("{} slots", slots->second));
  return false;
}

using Integers = std::vector<int64_t>;

std::optional<Integers> read_integers(const JsonValue& array, Complaints& complaints) {
  if (!expect_array(array, complaints)) return std::nullopt;
  Integers integers;
  for (const JsonValue* child : array.children) {
    // Engines hold them in an int32; a stale slot may be negative.
    constexpr int64_t kLow = std::numeric_limits<int32_t>::min();
    constexpr int64_t kHigh = std::numeric_limits<int32_t>::max();
    const std::optional<int64_t> integer = read_integer(*child, kLow, kHigh, complaints);
    if (!integer) return std::nullopt;
    integers.push_back(*integer);
  }
  return integers;
}

std::optional<Integers> require_integers(const JsonValue& object, std::string_view key,
                                         Complaints& complaints) {
  const JsonValue* array = require(object, key, complaints);
  return array ? read_integers(*array, complaints) : std::nullopt;
}

std::optional<PageTableOrFault> read_csr(const JsonValue& object, int64_t page_block_size,
                                         Complaints& complaints) {
  if (!expect_object(object, complaints)) return std::nullopt;
  const bool is_good = expect_keys(object, kCsrKeys, complaints);
  auto indptr = require_integers(object, "indptr", complaints);
  auto indices = require_integers(object, "indices", complaints);
  auto last_page_len = require_integers(object, "last_page_len", complaints);
  if (!is_good || !indptr || !indices || !last_page_len) return std::nullopt;
  return from_csr({*indptr, *indices, *last_page_len}, page_block_size);
}

std::optional<PageTableOrFault> read_req_to_token(const JsonValue& from, const JsonValue& rows,
                                                  int64_t page_block_size, Complaints& complaints) {
  ReqToToken tokens;
  if (!expect_array(rows, complaints)) return std::nullopt;
  for (const JsonValue* child : rows.children) {
    std::optional<Integers> row = read_integers(*child, complaints);
    if (!row) return std::nullopt;
    tokens.rows.push_back(std::move(*row));
  }
  std::optional<Integers> seq_lens = require_integers(from, "seq_lens", complaints);
  if (!seq_lens) return std::nullopt;
  tokens.seq_lens = std::move(*seq_lens);
  return from_req_to_token(tokens, page_block_size);
}

}  // namespace

std::optional<CacheLayout> read_layout(const JsonValue& tensor, TensorName name,
                                       Complaints& complaints) {
  const JsonValue& object = *tensor.find("layout");
  if (name != TensorName::kK && name != TensorName::kV) {
    complaints.add(complaint::kContradiction, object, "a `layout` on k and v alone",
                   fmt::format("one on {}", name_of(name)));
    return std::nullopt;
  }
  if (!expect_object(object, complaints)) return std::nullopt;
  const bool stands_alone =
      expect_none_beside(tensor, "layout", {"shape", "strides", "offset"}, complaints);
  const Layout* layout = read_name(object, complaints);
  if (!layout) return std::nullopt;
  const CacheTensor side = name == TensorName::kK ? CacheTensor::kK : CacheTensor::kV;
  if (const std::string reason = why_no_view(*layout, side); !reason.empty()) {
    complaints.add(complaint::kLayoutIsNoView, object,
                   "a layout that is a view of rank 4 with the last stride 1",
                   fmt::format("{}, in which {}", in_quotes(layout->name), reason));
    return std::nullopt;
  }
  const std::optional<LayoutSizes> sizes = read_sizes(object, *layout, complaints);
  if (!sizes || !expect_fitting(object, *sizes, complaints) || !stands_alone) return std::nullopt;

  int64_t base = 0;
  if (const JsonValue* given = find_given(object, "base")) {
    const std::optional<int64_t> elements = read_usize(*given, complaints);
    if (!elements) return std::nullopt;
    base = *elements;
  }
  std::optional<LayoutView> view = expand(*layout, side, *sizes);
  const std::optional<int64_t> end = view ? checked_add(view->elements, base) : std::nullopt;
  if (!end) {
    complaints.add(complaint::kSizeOverflows, object,
                   "sizes whose product is at most 9223372036854775807", "larger ones");
    return std::nullopt;
  }
  view->offset += base;  // less than the end
  view->elements = *end;
  return CacheLayout{std::move(*view), has_one_tensor(*layout)};
}

std::optional<PageTable> read_page_table(const JsonValue& tensor, int64_t page_block_size,
                                         Complaints& complaints) {
  const JsonValue& from = *tensor.find("from");
  if (page_block_size == 0) {
    complaints.add(complaint::kContradiction, from, "a page_block_size above 0 for `from`", "0");
    return std::nullopt;
  }
  const bool stands_alone = expect_none_beside(
      tensor, "from", {"shape", "strides", "offset", "values", "fill", "file"}, complaints);
  if (!expect_object(from, complaints) || !expect_keys(from, kFromKeys, complaints)) {
    return std::nullopt;
  }
  const JsonValue* csr = find_given(from, "csr");
  const JsonValue* rows = find_given(from, "req_to_token");
  if (!csr == !rows || (csr && find_given(from, "seq_lens"))) {
    complaints.add(complaint::kContradiction, from, "csr alone, or req_to_token with seq_lens",
                   csr ? "csr and another" : "neither");
    return std::nullopt;
  }
  const std::optional<PageTableOrFault> found =
      csr ? read_csr(*csr, page_block_size, complaints)
          : read_req_to_token(from, *rows, page_block_size, complaints);
  if (!found || !stands_alone) return std::nullopt;
  if (const auto* fault = std::get_if<PageTableFault>(&*found)) {
    complaints.add(complaint::kBrokenPageTable, csr ? *csr : *rows, fault->expected, fault->got);
    return std::nullopt;
  }
  return std::get<PageTable>(*found);
}

}  // namespace flashcheck
