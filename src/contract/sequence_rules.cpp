#include <fmt/format.h>

#include <variant>

#include "src/contract/rules.h"
#include "src/contract/text.h"

namespace flashcheck {
namespace {

std::vector<int64_t> written_out(const TensorSpec& tensor) {
  const LiteralValues* literal = std::get_if<LiteralValues>(tensor.values.get());
  return literal ? literal->ints : std::vector<int64_t>{};
}

/// [0, 3, 7] of the lengths [3, 4].
std::vector<int64_t> cumulative(const std::vector<int64_t>& lengths) {
  std::vector<int64_t> sums{0};
  for (const int64_t length : lengths) {
    sums.push_back(
        static_cast<int64_t>(static_cast<uint64_t>(sums.back()) + static_cast<uint64_t>(length)));
  }
  return sums;
}

/// If the values are plain lengths, how they read as cumulative ones.
std::string plain_lengths_fix(const Call& call, TensorName name) {
  constexpr size_t kPrintable = 16;
  const std::vector<int64_t> values = written_out(call.c.at(name));
  if (values.empty() || values.size() > kPrintable || values[0] == 0) return "";
  return fmt::format("{} holds {}, plain lengths: cumulative they are {}.", name_of(name),
                     rust_list(values), rust_list(cumulative(values)));
}

Facts seqlens_too_short(const Call& call, TensorName subject) {
  const TensorSpec& seqlens = call.c.at(subject);
  Facts facts{.where = pointer_to(subject, "shape"),
              .args = {{"length", std::to_string(seqlens.shape[0])}},
              .fix = plain_lengths_fix(call, subject)};
  if (facts.fix.empty() && call.has_expected_rank(TensorName::kQ)) {
    const int64_t rows = call.c.q().shape[0];
    facts.fix = fmt::format("q has {} rows: if they are one sequence, pass [0, {}].", rows, rows);
  }
  return facts;
}

Facts seqlens_lengths_differ(const Call& call, TensorName) {
  const int64_t q = call.c.at(TensorName::kSeqlensQ).shape[0];
  const int64_t k = call.c.at(TensorName::kSeqlensK).shape[0];
  Facts facts{.where = pointer_to(TensorName::kSeqlensK, "shape"),
              .args = {{"length_q", std::to_string(q)}, {"length_k", std::to_string(k)}}};
  const auto batch = [](int64_t length) {
    return length > 1 ? fmt::format("a batch of {}", length - 1) : std::string("no sequence");
  };
  facts.fix = fmt::format("seqlens_q implies {}, seqlens_k {}.", batch(q), batch(k));
  TensorName odd = q < k ? TensorName::kSeqlensQ : TensorName::kSeqlensK;
  if (const TensorSpec* table = call.c.find(TensorName::kBlockTable);
      table && table->rank() == 2 && (table->shape[0] == q - 1 || table->shape[0] == k - 1)) {
    odd = table->shape[0] == q - 1 ? TensorName::kSeqlensK : TensorName::kSeqlensQ;
    facts.where = pointer_to(odd, "shape");
    facts.fix += fmt::format(" block_table has a row for each of {}, so {} is the odd one.",
                             table->shape[0], name_of(odd));
  }
  std::string plain = plain_lengths_fix(call, TensorName::kSeqlensQ);
  if (plain.empty()) plain = plain_lengths_fix(call, TensorName::kSeqlensK);
  const int64_t missing = odd == TensorName::kSeqlensQ ? k - q : q - k;
  if (plain.empty() && missing == 1) {
    plain =
        fmt::format("If {} holds plain lengths, put a 0 in front and add them up.", name_of(odd));
  }
  if (!plain.empty()) facts.fix += " " + plain;
  return facts;
}

Facts prefix_ranges_shape(const Call& call, TensorName subject) {
  const TensorSpec& ranges = call.c.at(subject);
  const int64_t batch = *call.batch_size();
  Facts facts{.where = pointer_to(subject, "shape"),
              .args = {{"batch_size", std::to_string(batch)}, {"shape", rust_list(ranges.shape)}}};
  const std::vector<int64_t> pairs_last = transposed(ranges.shape, 1, 2);
  if (ranges.shape[0] == batch && ranges.shape[2] != 2 && ranges.shape[1] == 2) {
    facts.fix = fmt::format(
        "Starts and ends lie along axis 1: "
        "`mm_prefix_ranges.transpose(1, 2)?.contiguous()?` gives {}.",
        rust_list(pairs_last));
  } else if (ranges.shape[2] != 2) {
    facts.fix = fmt::format(
        "The last dim is a start and an end, size 2, not {}: pass [{}, "
        "max_ranges, 2].",
        ranges.shape[2], batch);
  } else {
    facts.fix = fmt::format(
        "seqlens_q implies a batch of {}, axis 0 of mm_prefix_ranges is {}: pass [{}, {}, 2], and "
        "(0, "
        "0) where a sequence has fewer ranges.",
        batch, ranges.shape[0], batch, ranges.shape[1]);
  }
  return facts;
}

}  // namespace

constinit const ContractRule kSeqlensTooShort{
    .rule = {.code = "FC-E601",
             .name = "seqlens-too-short",
             .message = "seqlens_q should have a len >= 2 {length}",
             .why = "seqlens_q is cumulative: it begins with 0 and has one entry more than there "
                    "are sequences, so one sequence of n rows is [0, n]. The number at the end is "
                    "the length that came.",
             .fix = "Pass [0, rows] for one sequence, [0, a, a + b] for two.",
             .source = "candle-flash-attn/src/lib.rs:609-611"},
    .fails =
        [](const Call& call, TensorName subject) {
          const TensorSpec& seqlens = call.c.at(subject);
          return seqlens.rank() == 1 && seqlens.shape[0] < 2;
        },
    .facts = seqlens_too_short};

constinit const ContractRule kSeqlensLengthsDiffer{
    .rule = {.code = "FC-E602",
             .name = "seqlens-lengths-differ",
             .message = "seqlens_q and seqlens_k should have the same number of elements "
                        "{length_q} <> {length_k}",
             .why = "Both tables describe the same batch: batch + 1 entries each, the first one 0. "
                    "A table of plain lengths has one entry too few.",
             .fix = "Pass cumulative lengths of the same sequences in both.",
             .source = "candle-flash-attn/src/lib.rs:613-615"},
    .fails =
        [](const Call& call, TensorName) {
          const TensorSpec& q = call.c.at(TensorName::kSeqlensQ);
          const TensorSpec& k = call.c.at(TensorName::kSeqlensK);
          // A seqlens_q that is too short will be replaced anyway.
          return q.rank() == 1 && k.rank() == 1 && q.shape[0] >= 2 && q.shape[0] != k.shape[0];
        },
    .facts = seqlens_lengths_differ};

constinit const ContractRule kPrefixRangesShape{
    .rule = {.code = "FC-E603",
             .name = "mm-prefix-ranges-shape",
             .message = "mm_prefix_ranges shape must be ({batch_size}, max_ranges, 2), got {shape}",
             .why = "Every sequence has the same number of [start, end) pairs; an empty pair such "
                    "as (0, 0) is skipped. `max_ranges` in the message is literal: any number will "
                    "do.",
             .fix = "Pass [batch, max_ranges, 2], padded with (0, 0).",
             .source = "candle-flash-attn/src/lib.rs:631-636"},
    .fails =
        [](const Call& call, TensorName subject) {
          const TensorSpec& ranges = call.c.at(subject);
          const std::optional<int64_t> batch = call.batch_size();
          return ranges.rank() == 3 && batch && (ranges.shape[0] != *batch || ranges.shape[2] != 2);
        },
    .facts = prefix_ranges_shape};

}  // namespace flashcheck
