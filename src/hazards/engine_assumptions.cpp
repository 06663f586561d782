#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <set>
#include <string>

#include "src/hazards/data_rows.h"
#include "src/hazards/families.h"
#include "src/hazards/kernel_mask.h"
#include "src/spec/checked.h"

namespace flashcheck {
namespace {

/// How a call departs from what an engine assumes: where it is seen, and the numbers.
struct Departure {
  std::string where, numbers;
};
using FindDeparture = std::optional<Departure> (*)(const HazardContext& context);

std::string place_of(TensorName name, std::string_view key) {
  return fmt::format("/tensors/{}/{}", name_of(name), key);
}

bool is_packed(const TensorSpec& tensor) {
  return tensor.num_elements() == 0 || tensor.is_contiguous();
}

std::string stride_numbers(std::string_view names, const TensorSpec& tensor) {
  return fmt::format("{} strides {}, packed {}", names, tensor.strides,
                     *contiguous_strides(tensor.shape));
}

std::optional<Departure> unpacked_q(const HazardContext& context) {
  const TensorSpec& q = context.c.q();
  if (is_packed(q)) return std::nullopt;
  return Departure{place_of(TensorName::kQ, "strides"), stride_numbers("q has", q)};
}

std::optional<Departure> unpacked_kv(const HazardContext& context) {
  const TensorSpec &k = context.c.k(), &v = context.c.v();
  if (is_packed(k) && is_packed(v)) return std::nullopt;
  if (k.shape == v.shape && k.strides == v.strides) {
    return Departure{place_of(TensorName::kK, "strides"), stride_numbers("k and v have", k)};
  }
  if (is_packed(v)) {
    return Departure{place_of(TensorName::kK, "strides"), stride_numbers("k has", k)};
  }
  std::string numbers = stride_numbers("v has", v);
  if (!is_packed(k)) numbers += ", k has " + fmt::format("{}", k.strides);
  return Departure{place_of(TensorName::kV, "strides"), numbers};
}

std::optional<Departure> differing_kv(const HazardContext& context) {
  const TensorSpec &k = context.c.k(), &v = context.c.v();
  if (k.num_elements() == 0 || k.shape != v.shape) return std::nullopt;
  for (size_t dim = 0; dim < k.shape.size(); ++dim) {
    if (k.shape[dim] < 2 || k.strides[dim] == v.strides[dim]) continue;
    return Departure{place_of(TensorName::kV, "strides"),
                     fmt::format("k has strides {}, v {}", k.strides, v.strides)};
  }
  return std::nullopt;
}

std::optional<Departure> odd_stride_of_one(const HazardContext& context) {
  for (const TensorName name : {TensorName::kQ, TensorName::kK, TensorName::kV}) {
    const TensorSpec& tensor = context.c.at(name);
    const std::vector<int64_t> packed = *contiguous_strides(tensor.shape);
    for (size_t dim = 0; dim + 1 < tensor.shape.size(); ++dim) {
      const int64_t bytes_past = tensor.strides[dim] % (16 / size_in_bytes(tensor.dtype));
      if (tensor.shape[dim] != 1 || bytes_past == 0) continue;
      return Departure{place_of(name, "strides"),
                       fmt::format("dim {} of {} has size 1 and stride {}, {} bytes; {} would do",
                                   dim, name_of(name), tensor.strides[dim],
                                   tensor.strides[dim] * size_in_bytes(tensor.dtype), packed[dim])};
    }
  }
  return std::nullopt;
}

constexpr int64_t kMaxInt = std::numeric_limits<int32_t>::max();

/// The highest index of the outermost dim that the call uses.
int64_t last_used_index(const HazardContext& context, TensorName name) {
  const int64_t last = context.c.at(name).shape[0] - 1;
  const int64_t page = context.launch.page_block_size;
  const bool has_pages = context.c.function->paged && name != TensorName::kQ;
  if (!has_pages || !context.sequences || !context.block_table || page == 0) return last;
  int64_t highest = 0;
  for_each_sequence(context, [&](int64_t b, const LaunchedSequence& s) {
    for (int64_t entry = 0; entry * page < context.reachable_keys(s); ++entry) {
      const std::optional<int64_t> used = context.launched_page(b, entry);
      if (!used) break;  // past the table, which another rule reports
      highest = std::max(highest, *used);
    }
  });
  return std::min(highest, last);
}

/// The first index of the outermost dim that has an element over kMaxInt / `scale`.
int64_t first_beyond(const TensorSpec& tensor, int64_t scale) {
  TensorSpec entry = tensor;
  entry.shape[0] = 1;
  const int64_t room = kMaxInt / scale - (*entry.span() - 1);
  if (room < 0) return 0;
  return tensor.strides[0] == 0 ? std::numeric_limits<int64_t>::max()
                                : room / tensor.strides[0] + 1;
}

std::optional<Departure> wide_offsets(const HazardContext& context) {
  const WrapperFunction& function = *context.c.function;
  for (const TensorName name : {TensorName::kK, TensorName::kV, TensorName::kQ}) {
    const TensorSpec& tensor = context.c.at(name);
    if (tensor.num_elements() == 0) continue;
    const int64_t last = last_used_index(context, name);
    const int64_t in_bytes = first_beyond(tensor, size_in_bytes(tensor.dtype));
    if (last < in_bytes) continue;
    const std::string_view unit = !function.varlen                           ? "batch entry"
                                  : function.paged && name != TensorName::kQ ? "page"
                                                                             : "row";
    const int64_t in_elements = first_beyond(tensor, 1);
    std::string numbers = fmt::format("the call uses {} {} of {}, bytes pass 2147483647 in {} {}",
                                      unit, last, name_of(name), unit, in_bytes);
    if (last >= in_elements) numbers += fmt::format(", elements in {}", in_elements);
    const bool is_packed_cache = !function.varlen && name != TensorName::kQ && is_packed(tensor);
    const std::optional<int64_t> row =
        is_packed_cache ? checked_mul(tensor.shape[0], tensor.strides[1]) : std::nullopt;
    if (row && *row > 0) {  // one key of stride 0 is packed too
      numbers += fmt::format("; {} rows would fit in bytes, {} in elements",
                             kMaxInt / size_in_bytes(tensor.dtype) / *row, kMaxInt / *row);
    }
    return Departure{place_of(name, "strides"), numbers};
  }
  return std::nullopt;
}

std::optional<Departure> rectangular_causal(const HazardContext& context) {
  // With pages the keys are a cache by definition, and every call of a decode would be told.
  if (!context.launch.is_causal || !context.sequences || context.c.function->paged) {
    return std::nullopt;
  }
  for (size_t b = 0; b < context.sequences->size(); ++b) {
    const LaunchedSequence& s = (*context.sequences)[b];
    if (s.seqlen_q() < 1 || s.seqlen_q() >= s.seqlen_k()) continue;
    return Departure{"", fmt::format("row 0{} sees {} of {} keys, or 1",
                                     context.c.function->varlen ? fmt::format(" of sequence {}", b)
                                                                : std::string(),
                                     s.seqlen_k() - s.seqlen_q() + 1, s.seqlen_k())};
  }
  return std::nullopt;
}

std::optional<Departure> stale_tail(const HazardContext& context) {
  const int64_t page = context.launch.page_block_size;
  if (!context.c.function->paged || !context.sequences || !context.block_table || page == 0) {
    return std::nullopt;
  }
  const auto is_not_finite = [](double value) { return !std::isfinite(value); };
  const std::vector<DataRow> rows = rows_with(context.c.v(), is_not_finite);
  if (rows.empty()) return std::nullopt;
  std::set<int64_t> last_pages;
  for_each_sequence(context, [&](int64_t b, const LaunchedSequence& s) {
    if (s.seqlen_k() > 0 && s.seqlen_k() % page != 0) {
      last_pages.insert(context.launched_page(b, s.seqlen_k() / page).value_or(-1));
    }
  });
  std::set<std::pair<int64_t, int64_t>> stale;
  for (const DataRow& row : rows) {
    if (last_pages.contains(row.batch) && places_of(context, row, false).empty()) {
      stale.emplace(row.batch, row.row);
    }
  }
  if (stale.empty()) return std::nullopt;
  return Departure{place_of(TensorName::kV, "values"),
                   fmt::format("{} unused rows of v are not finite, first page {} row {}",
                               stale.size(), stale.begin()->first, stale.begin()->second)};
}

std::optional<Departure> not_one_token_each(const HazardContext& context) {
  const LaunchParams& launch = context.launch;
  if (!context.c.function->varlen || !context.sequences || launch.seqlen_q != 1 ||
      launch.h == launch.h_k || int64_t{launch.total_q} == int64_t{launch.b}) {
    return std::nullopt;
  }
  std::vector<size_t> empty;
  for (size_t b = 0; b < context.sequences->size(); ++b) {
    if ((*context.sequences)[b].seqlen_q() == 0) empty.push_back(b);
  }
  if (empty.empty()) return std::nullopt;
  const size_t shown = std::min<size_t>(empty.size(), 4);
  empty.resize(shown);
  return Departure{"/tensors/seqlens_q/values",
                   fmt::format("q has {} rows for {} sequences, without a row: {}", launch.total_q,
                               launch.b, fmt::join(empty, ", "))};
}

template <FindDeparture find>
void check_assumption(const HazardContext& context, const Rule& rule, const EmitHazard& emit) {
  if (const std::optional<Departure> departure = find(context)) {
    emit(make_finding(rule, departure->where, {{"numbers", departure->numbers}}));
  }
}

/// The assumptions, as data: what is assumed, from which reports it is known, and when a call
/// departs from it. Only layouts and masks out of the ordinary are told.
constexpr HazardRule kRules[] = {
    {.rule = {.code = "FC-H901",
              .name = "assumes-packed-q",
              .severity = Severity::kInformation,
              .message = "safe where strides are honoured, as here; unsafe for engines that take "
                         "q as packed: {numbers}",
              .why = "A slice of a fused QKV buffer keeps the buffer's row stride. Row 0 is then "
                     "right and all others are read from the wrong place: only a batch shows it.",
              .fix = "Before you give q to such an engine, pass q.contiguous().",
              .source = "sgl-project/sglang#31667, NVIDIA/TransformerEngine#1195"},
     .kind = HazardKind::kInformation,
     .callees = kCandle,
     .check = check_assumption<unpacked_q>},
    {.rule = {.code = "FC-H902",
              .name = "assumes-packed-kv",
              .severity = Severity::kInformation,
              .message = "safe where strides are honoured, as here; unsafe for engines that take "
                         "k and v as packed: {numbers}",
              .why = "Interleaved pools, transposed views and slices of a fused buffer have other "
                     "strides than their shape implies.",
              .fix = "Before you give them to such an engine, copy with contiguous().",
              .source = "flagos-ai/FlagGems#5896, vllm-project/vllm-xpu-kernels#429, "
                        "BobMcDear/attorch#14, Dao-AILab/flash-attention#1562"},
     .kind = HazardKind::kInformation,
     .callees = kCandle,
     .check = check_assumption<unpacked_kv>},
    {.rule = {.code = "FC-H903",
              .name = "assumes-one-stride-for-k-and-v",
              .severity = Severity::kInformation,
              .message = "safe where k and v have strides of their own, as here; unsafe for "
                         "engines that read v by k's: {numbers}",
              .why = "An engine that finds the layout from k alone then has right scores and a "
                     "wrong output.",
              .fix = "Give k and v one layout before you pass them to such an engine.",
              .source = "vllm-project/vllm-xpu-kernels#449"},
     .kind = HazardKind::kInformation,
     .callees = kCandle,
     .check = check_assumption<differing_kv>},
    {.rule = {.code = "FC-H904",
              .name = "assumes-tma-strides",
              .severity = Severity::kInformation,
              .message = "safe where no TMA descriptor is built, as here; unsafe for engines that "
                         "build one: {numbers}",
              .why = "A dim of size 1 may carry any stride, and copies do not always mend it. TMA "
                     "wants multiples of 16 bytes of every dim, used or not.",
              .fix = "Build the view anew with row-major strides for such an engine.",
              .source = "vllm-project/vllm#40737"},
     .kind = HazardKind::kInformation,
     .callees = kV2,
     .check = check_assumption<odd_stride_of_one>},
    {.rule = {.code = "FC-H905",
              .name = "assumes-32-bit-offsets",
              .severity = Severity::kInformation,
              .message = "safe where offsets have 64 bits, as here; unsafe for engines that "
                         "multiply in 32: {numbers}",
              .why = "The product of an index and its stride wraps: a fault, or another page's "
                     "rows in silence. Which limit counts depends on what is multiplied.",
              .fix = "For such an engine keep the pool below the number that is told.",
              .source = "vllm-project/vllm#50427, #47671 and #52109, "
                        "vllm-project/vllm-xpu-kernels#445, Dao-AILab/flash-attention#772, "
                        "fla-org/flash-linear-attention#1080"},
     .kind = HazardKind::kInformation,
     .callees = kCandle,
     .check = check_assumption<wide_offsets>},
    {.rule = {.code = "FC-H906",
              .name = "assumes-causal-from-top-left",
              .severity = Severity::kInformation,
              .message = "causal is bottom-right here, top-left in some libraries: {numbers}",
              .why = "With as many queries as keys both are one; with a cache they are not.",
              .fix = "Compare with a reference that aligns to the bottom right.",
              .source = "Dao-AILab/flash-attention#282, pytorch/executorch#22426, "
                        "ml-explore/mlx#2836, onnx/onnx#8068"},
     .kind = HazardKind::kInformation,
     .callees = kCandle,
     .check = check_assumption<rectangular_causal>},
    {.rule = {.code = "FC-H907",
              .name = "assumes-finite-tail",
              .severity = Severity::kInformation,
              .message = "safe where rows past the length are cleared, as here; unsafe for engines "
                         "that multiply them by 0: {numbers}",
              .why = "0 * NaN is NaN: an engine that loads the whole last page and relies on zero "
                     "weights turns its rows into NaN.",
              .fix = "Zero the pool when it is allocated, and pages when they are freed.",
              .source = "Dao-AILab/flash-attention#1745 and #2374, hw-native-sys/simpler#72, "
                        "huggingface/transformers#46765"},
     .kind = HazardKind::kInformation,
     .callees = kV2,
     .check = check_assumption<stale_tail>},
    {.rule = {.code = "FC-H908",
              .name = "assumes-one-token-each",
              .severity = Severity::kInformation,
              .message = "safe where sequences may be empty, as here; unsafe for engines that fold "
                         "query heads into rows when max_seqlen_q is 1: {numbers}",
              .why = "Folding reshapes q by the number of sequences, which fails, or shifts rows, "
                     "when some have no token.",
              .fix = "Leave sequences without a query out of the batch for such an engine.",
              .source = "Dao-AILab/flash-attention#1537 and #1619"},
     .kind = HazardKind::kInformation,
     .callees = kV2,
     .check = check_assumption<not_one_token_each>},
};

}  // namespace

std::span<const HazardRule> engine_assumptions() { return kRules; }

}  // namespace flashcheck
