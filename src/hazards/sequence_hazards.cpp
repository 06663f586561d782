#include <fmt/format.h>

#include <string>

#include "src/hazards/families.h"

namespace flashcheck {
namespace {

void check_q_rows(const HazardContext& context, const Rule& rule, const EmitHazard& emit) {
  if (!context.c.function->varlen || !context.sequences) return;
  const int64_t total_q = context.c.q().shape[0];
  for (size_t b = 0; b < context.sequences->size(); ++b) {
    const LaunchedSequence& s = (*context.sequences)[b];
    if (s.seqlen_q() <= 0 || (s.q_begin >= 0 && s.q_end <= total_q)) continue;
    Finding finding = make_finding(rule, fmt::format("/tensors/seqlens_q/values/{}", b + 1),
                                   {{"sequence", std::to_string(b)},
                                    {"begin", std::to_string(s.q_begin)},
                                    {"end", std::to_string(s.q_end)},
                                    {"total_q", std::to_string(total_q)}});
    finding.fix = fmt::format(
        "end seqlens_q at {}, the rows that q has, or pass a q of {} rows; seqlens_q is cumulative "
        "and starts at 0",
        total_q, s.q_end);
    emit(std::move(finding));
  }
}

void check_k_rows(const HazardContext& context, const Rule& rule, const EmitHazard& emit) {
  if (!context.c.function->varlen || context.c.function->paged || !context.sequences) return;
  const int64_t total_k = context.c.k().shape[0];
  for (size_t b = 0; b < context.sequences->size(); ++b) {
    const LaunchedSequence& s = (*context.sequences)[b];
    if (s.seqlen_k() <= 0 || (s.k_begin >= 0 && s.k_end <= total_k)) continue;
    Finding finding = make_finding(rule, fmt::format("/tensors/seqlens_k/values/{}", b + 1),
                                   {{"sequence", std::to_string(b)},
                                    {"begin", std::to_string(s.k_begin)},
                                    {"end", std::to_string(s.k_end)},
                                    {"total_k", std::to_string(total_k)}});
    finding.fix = fmt::format(
        "end seqlens_k at {}, the rows that k and v have, or pass k and v of {} rows; seqlens_k is "
        "cumulative and starts at 0",
        total_k, s.k_end);
    emit(std::move(finding));
  }
}

constexpr HazardRule kRules[] = {
    {.rule = {.code = "FC-H203",
              .name = "seqlens-q-exceed-q",
              .severity = Severity::kError,
              .message =
                  "sequence {sequence}: its query rows {begin}..{end} leave q and out, which "
                  "have {total_q} rows",
              .why = "Nothing compares seqlens_q with the rows of q: the kernel reads q past its "
                     "end and writes out and lse past theirs.",
              .fix = "End seqlens_q at the number of rows of q.",
              .source = "kernels/block_info.h:29, kernels/flash_fwd_kernel.h:485-488, 1067-1076"},
     .kind = HazardKind::kOutOfBoundsWrite,
     .check = check_q_rows},
    {.rule = {.code = "FC-H205",
              .name = "seqlens-k-exceed-k",
              .severity = Severity::kError,
              .message = "sequence {sequence}: its key rows {begin}..{end} leave k and v, which "
                         "have {total_k} rows",
              .why =
                  "Nothing compares seqlens_k with the rows of k: keys and values are read past "
                  "their end (candle-flash-attn-v3 reads zeros there, which still count as keys).",
              .fix = "End seqlens_k at the number of rows of k.",
              .source = "kernels/block_info.h:34"},
     .kind = HazardKind::kOutOfBoundsRead,
     .check = check_k_rows},
};

}  // namespace

std::span<const HazardRule> sequence_hazards() { return kRules; }

}  // namespace flashcheck
