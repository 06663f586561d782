#include "src/hazards/data_rows.h"

#include <algorithm>
#include <variant>

#include "src/hazards/kernel_mask.h"
#include "src/hazards/tile_sizes.h"

namespace flashcheck {
namespace {

constexpr int64_t kMaxRows = 256;  // each is looked for in every sequence

/// The first of `count` elements from `first` on that is wanted.
std::optional<double> first_wanted(const Values& values, int64_t first, int64_t count,
                                   const std::function<bool(double)>& is_wanted) {
  if (const auto* literal = std::get_if<LiteralValues>(&values)) {
    for (int64_t n = first; n < first + count; ++n) {
      const double value = literal->floats[static_cast<size_t>(n)];
      if (is_wanted(value)) return value;
    }
  } else if (const auto* fill = std::get_if<Fill>(&values)) {
    if (is_wanted(fill->value)) return fill->value;
  }
  return std::nullopt;
}

bool is_known(const Values& values) {
  const auto* fill = std::get_if<Fill>(&values);
  const auto* literal = std::get_if<LiteralValues>(&values);
  return (literal && !literal->floats.empty()) ||
         (fill && fill->generator == Fill::Generator::kConstant);
}

bool is_loaded(const HazardContext& context, const KeyPlace& place, bool visible_only) {
  const std::vector<KeySpan> spans =
      visible_only ? visible_keys(context, place.sequence) : loaded_keys(context, place.sequence);
  for (const KeySpan& span : spans) {
    if (span.begin <= place.key && place.key < span.end) return true;
  }
  return false;
}

}  // namespace

std::vector<DataRow> rows_with(const TensorSpec& tensor,
                               const std::function<bool(double)>& is_wanted) {
  std::vector<DataRow> found;
  if (!is_known(*tensor.values) || tensor.num_elements() == 0) return found;
  const size_t rank = tensor.shape.size();
  const int64_t heads = tensor.shape[rank - 2], rows = tensor.shape[rank - 3];
  const int64_t head_dim = tensor.shape[rank - 1];
  const int64_t lines = *tensor.num_elements() / head_dim;
  for (int64_t line = 0; line < lines && std::ssize(found) < kMaxRows; ++line) {
    const std::optional<double> value =
        first_wanted(*tensor.values, line * head_dim, head_dim, is_wanted);
    if (!value) continue;
    const int64_t row = line / heads;
    found.push_back({row / rows, row % rows, line % heads, *value});
  }
  return found;
}

std::vector<KeyPlace> places_of(const HazardContext& context, const DataRow& row,
                                bool visible_only) {
  std::vector<KeyPlace> places;
  const auto take = [&](const KeyPlace& place) {
    if (is_loaded(context, place, visible_only)) places.push_back(place);
  };
  if (!context.c.function->varlen) {
    if (context.sequences) take({row.batch, row.row});
    return places;
  }
  const int64_t page = context.launch.page_block_size;
  const TensorSpec* table = context.c.find(TensorName::kBlockTable);
  for_each_sequence(context, [&](int64_t b, const LaunchedSequence& s) {
    if (!context.c.function->paged) {
      if (s.k_begin <= row.row && row.row < s.k_end) take({b, row.row - s.k_begin});
    } else if (context.block_table && page > 0) {
      const int64_t end = std::min(table->shape[1], ceil_div(context.reachable_keys(s), page));
      for (int64_t entry = 0; entry < end; ++entry) {
        if (context.launched_page(b, entry) == row.batch) take({b, entry * page + row.row});
      }
    }
  });
  return places;
}

}  // namespace flashcheck
