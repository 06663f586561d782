#include "src/hazards/plain_lengths.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <numeric>
#include <string>

#include "src/hazards/families.h"

namespace flashcheck {
namespace {

int64_t sum_of(const std::vector<int64_t>& values) {
  return std::accumulate(values.begin(), values.end(), int64_t{0});
}

/// From 0, every entry over the one before.
bool rises(const std::vector<int64_t>& values) {
  return values.front() == 0 &&
         std::adjacent_find(values.begin(), values.end(), std::greater_equal<>()) == values.end();
}

/// Entries that are no running sum of `rows` rows, and make up these rows together.
bool add_up_to(const std::vector<int64_t>& values, int64_t rows) {
  const bool is_running_sum =
      values.front() == 0 && values.back() == rows && std::is_sorted(values.begin(), values.end());
  return !rises(values) && !is_running_sum && sum_of(values) == rows;
}

bool starts_above_0_and_does_not_rise(const std::vector<int64_t>& values) {
  return values.front() != 0 &&
         std::adjacent_find(values.begin(), values.end(), std::greater_equal<>()) != values.end();
}

/// [0, 4, 5, 10] of [4, 1, 5] and of [0, 4, 1, 5].
std::vector<int64_t> cumulative(const std::vector<int64_t>& lengths) {
  std::vector<int64_t> sums{0};
  for (size_t i = lengths.front() == 0 ? 1 : 0; i < lengths.size(); ++i) {
    sums.push_back(sums.back() + lengths[i]);
  }
  return sums;
}

std::string text_of(const std::vector<int64_t>& values) {
  constexpr ptrdiff_t kMaxShown = 8;
  const auto end = values.begin() + std::min(kMaxShown, std::ssize(values));
  return fmt::format("[{}{}]", fmt::join(values.begin(), end, ", "),
                     std::ssize(values) > kMaxShown ? ", …" : "");
}

void check_plain_lengths(const HazardContext& context, const Rule& rule, const EmitHazard& emit) {
  for (const PlainLengths& lengths : context.plain_lengths) {
    emit(make_finding(rule, fmt::format("/tensors/{}/values", name_of(lengths.name)),
                      {{"tensor", std::string(name_of(lengths.name))},
                       {"values", text_of(lengths.values)},
                       {"because", lengths.because},
                       {"cumulative", text_of(cumulative(lengths.values))}}));
  }
}

constexpr HazardRule kRules[] = {
    {.rule = {.code = "FC-H308",
              .name = "seqlens-look-like-lengths",
              .severity = Severity::kError,
              .message = "{tensor} {values} looks like lengths: {because}; cumulative they are "
                         "{cumulative}",
              .why = "The kernel takes a sequence's length from the difference of two entries, and "
                     "its first row from the first of them; of plain lengths these are negative, "
                     "or another sequence's. What else would follow from them is not told.",
              .fix = "Pass the running sum of the lengths with a 0 before it: batch + 1 numbers.",
              .source = "kernels/block_info.h:22, 29, 34"},
     .kind = HazardKind::kWrong,
     .callees = kAll,
     .check = check_plain_lengths},
};

}  // namespace

HazardContext without_plain_lengths(HazardContext context) {
  if (!context.c.function->varlen) return context;
  const bool is_paged = context.c.function->paged;
  const auto set_aside = [&](TensorName name, std::optional<std::vector<int64_t>>& table,
                             std::string because) {
    context.plain_lengths.push_back({name, std::move(*table), std::move(because)});
    table.reset();
    context.sequences.reset();
  };
  if (context.seqlens_q && add_up_to(*context.seqlens_q, context.c.q().shape[0])) {
    const int64_t sum = sum_of(*context.seqlens_q);
    set_aside(TensorName::kSeqlensQ, context.seqlens_q,
              fmt::format("they add up to {}, q's rows", sum));
  }
  if (!context.seqlens_k) return context;
  const std::vector<int64_t>& k = *context.seqlens_k;
  if (!is_paged && add_up_to(k, context.c.k().shape[0])) {
    const int64_t sum = sum_of(k);
    set_aside(TensorName::kSeqlensK, context.seqlens_k,
              fmt::format("they add up to {}, k's rows", sum));
  } else if (!context.plain_lengths.empty() && !std::is_sorted(k.begin(), k.end())) {
    set_aside(TensorName::kSeqlensK, context.seqlens_k,
              "they do not rise, and seqlens_q holds lengths");
  } else if (is_paged && starts_above_0_and_does_not_rise(k)) {
    set_aside(TensorName::kSeqlensK, context.seqlens_k, "they start above 0 and do not rise");
  }
  return context;
}

std::span<const HazardRule> plain_length_hazards() { return kRules; }

}  // namespace flashcheck
