#include <fmt/format.h>

#include <cmath>
#include <string>

#include "src/hazards/data_rows.h"
#include "src/hazards/families.h"
#include "src/hazards/kernel_mask.h"

namespace flashcheck {
namespace {

using std::to_string;

bool is_not_finite(double value) { return !std::isfinite(value); }

void check_values(const HazardContext& context, const Rule& rule, const EmitHazard& emit) {
  for (const DataRow& row : rows_with(context.c.v(), is_not_finite)) {
    for (const KeyPlace& place : places_of(context, row, false)) {
      emit(make_finding(rule, "/tensors/v/values",
                        {{"value", fmt::format("{}", row.value)},
                         {"sequence", to_string(place.sequence)},
                         {"key", to_string(place.key)},
                         {"head", to_string(row.head)}}));
    }
  }
}

/// The sequence that a row of q belongs to and sees keys in; nothing where there is none.
std::optional<int64_t> sequence_of_query(const HazardContext& context, const DataRow& row) {
  std::optional<int64_t> found;
  for_each_sequence(context, [&](int64_t b, const LaunchedSequence& s) {
    if (found) return;
    const bool is_inside =
        context.c.function->varlen ? s.q_begin <= row.row && row.row < s.q_end : row.batch == b;
    if (is_inside && s.seqlen_k() > 0) found = b;
  });
  return found;
}

void check_scores(const HazardContext& context, const Rule& rule, const EmitHazard& emit) {
  const auto report = [&](TensorName name, const DataRow& row, int64_t sequence,
                          std::string place) {
    emit(make_finding(rule, fmt::format("/tensors/{}/values", name_of(name)),
                      {{"tensor", std::string(name_of(name))},
                       {"value", fmt::format("{}", row.value)},
                       {"sequence", to_string(sequence)},
                       {"place", std::move(place)}}));
  };
  for (const DataRow& row : rows_with(context.c.q(), is_not_finite)) {
    const std::optional<int64_t> sequence = sequence_of_query(context, row);
    if (!sequence) continue;
    report(TensorName::kQ, row, *sequence, fmt::format("row {}, head {}", row.row, row.head));
  }
  for (const DataRow& row : rows_with(context.c.k(), is_not_finite)) {
    for (const KeyPlace& place : places_of(context, row, true)) {
      report(TensorName::kK, row, place.sequence,
             fmt::format("key {}, head {}", place.key, row.head));
    }
  }
}

void check_range(const HazardContext& context, const Rule& rule, const EmitHazard& emit) {
  if (context.c.v().dtype != Dtype::kF16) return;
  const auto is_largest = [](double value) {
    return std::isfinite(value) && std::fabs(value) >= 65504;
  };
  for (const DataRow& row : rows_with(context.c.v(), is_largest)) {
    for (const KeyPlace& place : places_of(context, row, true)) {
      emit(make_finding(rule, "/tensors/v/values",
                        {{"value", fmt::format("{}", row.value)},
                         {"sequence", to_string(place.sequence)},
                         {"key", to_string(place.key)},
                         {"head", to_string(row.head)}}));
    }
  }
}

constexpr HazardRule kRules[] = {
    {.rule = {.code = "FC-H509",
              .name = "v-not-finite",
              .severity = Severity::kError,
              .message = "sequence {sequence}: v is {value} at key {key}, k/v head {head}: rows "
                         "that the mask hides it from become NaN too",
              .why = "A masked weight is 0 and still multiplies v within a visited tile, and 0 * "
                     "NaN and 0 * inf are NaN. Only rows past the length are cleared.",
              .fix = "Clear the rows of v that are not filled yet, or end the length before them.",
              .source = "kernels/flash_fwd_kernel.h:403, 464, 975, 1040"},
     .kind = HazardKind::kNan,
     .callees = kCandle,
     .check = check_values},
    {.rule = {.code = "FC-H510",
              .name = "q-or-k-not-finite",
              .severity = Severity::kError,
              .message =
                  "sequence {sequence}: {tensor} is {value} at {place}: the rows that see it "
                  "are NaN, with lse +inf",
              .why = "The scores are NaN, the row's sum is NaN, and the division is skipped.",
              .fix = "Find out what wrote it; keys that the mask hides from every row do no harm.",
              .source = "kernels/softmax.h:178-179"},
     .kind = HazardKind::kNan,
     .callees = kAll,
     .check = check_scores},
    {.rule = {.code = "FC-H511",
              .name = "v-at-f16-limit",
              .severity = Severity::kInformation,
              .message = "sequence {sequence}: v is {value} at key {key}, k/v head {head}: a row "
                         "that sees little else may round to infinity",
              .why = "The output is rounded to f16, whose largest number is 65504; weights that "
                     "were rounded may add up to a little over 1.",
              .fix = "Scale v down, or use bf16.",
              .source = "kernels/flash_fwd_kernel.h:472, 1057"},
     .kind = HazardKind::kInformation,
     .callees = kCandle,
     .check = check_range},
};

}  // namespace

std::span<const HazardRule> value_hazards() { return kRules; }

}  // namespace flashcheck
