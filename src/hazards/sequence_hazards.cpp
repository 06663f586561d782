#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <string>

#include "src/hazards/addresses.h"
#include "src/hazards/families.h"
#include "src/hazards/written_rows.h"

namespace flashcheck {
namespace {

using std::to_string;

constexpr int64_t kMaxInt = std::numeric_limits<int32_t>::max();

std::string entry_of(TensorName name, int64_t entry) {
  return fmt::format("/tensors/{}/values/{}", name_of(name), entry);
}

/// Lengths that end at the size of the other axis: heads-first tensors passed as they are. Speaks
/// before the fix that is there.
void hint_at_axes(TensorName lengths, TensorName name, int64_t end, const TensorSpec& tensor,
                  Finding& finding) {
  if (end != tensor.shape[1]) return;
  finding.details.push_back(
      fmt::format("{} ends at {}, the size of {}'s axis 1", name_of(lengths), end, name_of(name)));
  finding.fix =
      fmt::format("if {0} is (heads, rows, head_dim), pass {0}.transpose(0, 1); if not, {1}",
                  name_of(name), finding.fix);
}

/// Lengths that count every row several times.
void hint_at_multiple(TensorName lengths, int64_t end, int64_t rows, Finding& finding) {
  if (rows == 0 || end % rows != 0 || end / rows < 2) return;
  finding.details.push_back(
      fmt::format("{} ends at {} = {} x {}: boundaries built from position ids of {} axes, "
                  "flattened, count every row {} times",
                  name_of(lengths), end, end / rows, rows, end / rows, end / rows));
}

void check_q_start(const HazardContext& context, const Rule& rule, const EmitHazard& emit) {
  if (!context.seqlens_q || context.seqlens_q->front() == 0) return;
  const int64_t first = context.seqlens_q->front();
  if (first > kMaxInt) return;  // the rule about 31 bits says more
  const std::vector<RowSpan> unwritten = outside(written_rows(context, 1), {0, first});
  if (unwritten.empty()) return;
  emit(make_finding(rule, entry_of(TensorName::kSeqlensQ, 0),
                    {{"first", to_string(first)}, {"rows", text_of(unwritten)}}));
}

void check_q_end(const HazardContext& context, const Rule& rule, const EmitHazard& emit) {
  if (!context.seqlens_q) return;
  const int64_t end = context.seqlens_q->back();
  const int64_t total_q = context.c.q().shape[0];
  if (end >= total_q) return;
  const std::vector<RowSpan> unwritten = outside(written_rows(context, 1), {end, total_q});
  if (unwritten.empty()) return;
  Finding finding = make_finding(
      rule, entry_of(TensorName::kSeqlensQ, static_cast<int64_t>(context.seqlens_q->size()) - 1),
      {{"end", to_string(end)}, {"total_q", to_string(total_q)}, {"rows", text_of(unwritten)}});
  finding.fix = fmt::format("end seqlens_q at {}, or pass q.narrow(0, 0, {})", total_q, end);
  hint_at_axes(TensorName::kSeqlensQ, TensorName::kQ, end, context.c.q(), finding);
  emit(std::move(finding));
}

void check_q_rows(const HazardContext& context, const Rule& rule, const EmitHazard& emit) {
  if (!context.c.function->varlen) return;
  const TensorSpec& q = context.c.q();
  const int64_t total_q = q.shape[0];
  for_each_sequence(context, [&](int64_t b, const LaunchedSequence& s) {
    if (s.seqlen_q() <= 0 || (s.q_begin >= 0 && s.q_end <= total_q)) return;
    Finding finding = make_finding(rule, entry_of(TensorName::kSeqlensQ, b + 1),
                                   {{"sequence", to_string(b)},
                                    {"begin", to_string(s.q_begin)},
                                    {"end", to_string(s.q_end)},
                                    {"total_q", to_string(total_q)}});
    const int64_t row = std::max(s.q_begin, total_q);
    finding.details.push_back(
        "out is written at " +
        against_storage(address_of(0, {{"row", row, context.launch.o_row_stride}}),
                        *q.num_elements()));
    if (context.is_v3) {
      finding.details.push_back("read: rows past the end of q are zeros, by its TMA descriptor");
    } else {
      finding.details.push_back(
          "q is read at " +
          against_storage(address_of(q.offset, {{"row", row, context.launch.q_row_stride}}),
                          context.c.storage_elements(q)));
    }
    hint_at_multiple(TensorName::kSeqlensQ, context.seqlens_q->back(), total_q, finding);
    finding.fix = fmt::format(
        "end seqlens_q at {}, the rows that q has, or pass a q of {} rows; seqlens_q is cumulative "
        "and starts at 0",
        total_q, s.q_end);
    hint_at_axes(TensorName::kSeqlensQ, TensorName::kQ, s.q_end, q, finding);
    emit(std::move(finding));
  });
}

void check_q_order(const HazardContext& context, const Rule& rule, const EmitHazard& emit) {
  if (!context.c.function->varlen) return;
  const std::vector<RowSpan> written_twice = written_rows(context, 2);
  for_each_sequence(context, [&](int64_t b, const LaunchedSequence& s) {
    if (s.seqlen_q() >= 0) return;
    const auto& cu = *context.seqlens_q;
    const size_t i = static_cast<size_t>(b);
    Finding finding = make_finding(
        rule, entry_of(TensorName::kSeqlensQ, b + 1),
        {{"sequence", to_string(b)}, {"begin", to_string(cu[i])}, {"end", to_string(cu[i + 1])}});
    const std::vector<RowSpan> shared = inside(written_twice, {cu[i + 1], cu[i]});
    if (!shared.empty()) {
      finding.details.push_back(
          fmt::format("rows {} then belong to two sequences: which of them is written last is "
                      "chance",
                      text_of(shared)));
    }
    emit(std::move(finding));
  });
}

void check_k_rows(const HazardContext& context, const Rule& rule, const EmitHazard& emit) {
  if (!context.c.function->varlen || context.c.function->paged) return;
  const TensorSpec& k = context.c.k();
  const int64_t total_k = k.shape[0];
  for_each_sequence(context, [&](int64_t b, const LaunchedSequence& s) {
    if (s.seqlen_k() <= 0 || (s.k_begin >= 0 && s.k_end <= total_k)) return;
    Finding finding = make_finding(rule, entry_of(TensorName::kSeqlensK, b + 1),
                                   {{"sequence", to_string(b)},
                                    {"begin", to_string(s.k_begin)},
                                    {"end", to_string(s.k_end)},
                                    {"total_k", to_string(total_k)}});
    const int64_t row = std::max(s.k_begin, total_k);
    finding.details.push_back(
        context.is_v3
            ? fmt::format("from row {} on they are read as zeros, which still count as keys", row)
            : "k is read at " +
                  against_storage(address_of(k.offset, {{"row", row, context.launch.k_row_stride}}),
                                  context.c.storage_elements(k)));
    hint_at_multiple(TensorName::kSeqlensK, context.seqlens_k->back(), total_k, finding);
    finding.fix = fmt::format(
        "end seqlens_k at {}, the rows that k and v have, or pass k and v of {} rows; seqlens_k is "
        "cumulative and starts at 0",
        total_k, s.k_end);
    hint_at_axes(TensorName::kSeqlensK, TensorName::kK, s.k_end, k, finding);
    emit(std::move(finding));
  });
}

/// Whether rows outside seqlens_k can only be the spare room behind a cache that is not full:
/// the lengths run from 0 upwards, and no number of theirs is one of another mistake.
bool is_spare_room(const HazardContext& context, int64_t group) {
  const std::vector<int64_t>& cu = *context.seqlens_k;
  const std::vector<int64_t>& shape = context.c.k().shape;
  const bool looks_swapped = cu.back() == shape[1];
  const bool looks_repeated = group > 1 && cu.back() > 0 && shape[0] == group * cu.back();
  return cu.front() == 0 && std::is_sorted(cu.begin(), cu.end()) && !looks_swapped &&
         !looks_repeated;
}

void check_k_cover(const HazardContext& context, const Rule& rule, const EmitHazard& emit,
                   bool spare_room) {
  if (context.c.function->paged || !context.seqlens_k) return;
  const auto& cu = *context.seqlens_k;
  const int64_t total_k = context.c.k().shape[0];
  const int64_t group = context.launch.h / std::max<int64_t>(1, context.launch.h_k);
  if (is_spare_room(context, group) != spare_room) return;
  const auto report = [&](size_t entry, int64_t first, int64_t last) {
    Finding finding =
        make_finding(rule, entry_of(TensorName::kSeqlensK, static_cast<int64_t>(entry)),
                     {{"first", to_string(first)},
                      {"last", to_string(last)},
                      {"begin", to_string(cu.front())},
                      {"end", to_string(cu.back())},
                      {"total_k", to_string(total_k)}});
    if (group > 1 && cu.back() > 0 && total_k == group * cu.back()) {
      finding.details.push_back(fmt::format(
          "{} = {} x {}, and q has {} heads for each of k: if k and v were repeated, the "
          "rows were repeated instead of the heads (which need no repeat)",
          total_k, group, cu.back(), group));
    }
    finding.fix = fmt::format(
        "if they are keys, let seqlens_k run from 0 to {}; if they are spare room, pass "
        "k.narrow(0, 0, {}) and v likewise",
        total_k, cu.back());
    hint_at_axes(TensorName::kSeqlensK, TensorName::kK, cu.back(), context.c.k(), finding);
    emit(std::move(finding));
  };
  if (cu.front() > 0 && cu.front() <= total_k) report(0, 0, cu.front() - 1);
  if (cu.back() < total_k) report(cu.size() - 1, cu.back(), total_k - 1);
}

void check_keys_left_out(const HazardContext& context, const Rule& rule, const EmitHazard& emit) {
  check_k_cover(context, rule, emit, false);
}

void check_spare_room(const HazardContext& context, const Rule& rule, const EmitHazard& emit) {
  check_k_cover(context, rule, emit, true);
}

void check_k_order(const HazardContext& context, const Rule& rule, const EmitHazard& emit) {
  if (!context.c.function->varlen) return;
  for_each_sequence(context, [&](int64_t b, const LaunchedSequence& s) {
    if (s.seqlen_k() >= 0) return;
    const auto& cu = *context.seqlens_k;
    const size_t i = static_cast<size_t>(b);
    emit(make_finding(
        rule, entry_of(TensorName::kSeqlensK, b + 1),
        {{"sequence", to_string(b)}, {"begin", to_string(cu[i])}, {"end", to_string(cu[i + 1])}}));
  });
}

void check_width(const HazardContext& context, const Rule& rule, const EmitHazard& emit) {
  const auto check = [&](TensorName name, const std::optional<std::vector<int64_t>>& cu) {
    if (!cu) return;
    for (size_t i = 0; i < cu->size(); ++i) {
      const int64_t value = (*cu)[i];
      if (value >= 0 && value <= kMaxInt) continue;
      const int32_t used = static_cast<int32_t>(static_cast<uint32_t>(value));
      emit(make_finding(rule, entry_of(name, static_cast<int64_t>(i)),
                        {{"tensor", std::string(name_of(name))},
                         {"entry", to_string(i)},
                         {"value", to_string(value)},
                         {"used", to_string(used)}}));
    }
  };
  check(TensorName::kSeqlensQ, context.seqlens_q);
  check(TensorName::kSeqlensK, context.seqlens_k);
}

constexpr HazardRule kRules[] = {
    {.rule = {.code = "FC-H201",
              .name = "seqlens-q-start-after-0",
              .severity = Severity::kError,
              .message = "seqlens_q starts at {first}: rows {rows} of the output are never "
                         "written",
              .why = "The output is allocated without being cleared, and a sequence writes its own "
                     "rows alone: the others keep whatever the memory held.",
              .fix = "Start seqlens_q at 0: it is cumulative, batch + 1 numbers.",
              .source = "candle-flash-attn/src/lib.rs:144, 707; kernels/block_info.h:29"},
     .kind = HazardKind::kUnwritten,
     .callees = kCandle,
     .check = check_q_start},
    {.rule = {.code = "FC-H202",
              .name = "seqlens-q-end-early",
              .severity = Severity::kError,
              .message = "seqlens_q ends at {end}, q has {total_q} rows: rows {rows} of the "
                         "output are never written",
              .why = "The output is allocated without being cleared, and a sequence writes its own "
                     "rows alone: the others keep whatever the memory held.",
              .fix = "End seqlens_q at the number of rows of q.",
              .source = "candle-flash-attn/src/lib.rs:144, 707; kernels/block_info.h:29"},
     .kind = HazardKind::kUnwritten,
     .callees = kCandle,
     .check = check_q_end},
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
     .callees = kAll,
     .check = check_q_rows},
    {.rule = {.code = "FC-H204",
              .name = "seqlens-q-decrease",
              .severity = Severity::kError,
              .message = "sequence {sequence}: seqlens_q goes back from {begin} to {end}, so it is "
                         "skipped",
              .why = "A negative length ends the sequence's blocks at once; the rows it should "
                     "have written stay as they were, or are another sequence's too.",
              .fix = "seqlens_q is cumulative: each entry is the one before plus the length.",
              .source = "kernels/flash_fwd_kernel.h:109, 562"},
     .kind = HazardKind::kUnwritten,
     .callees = kCandle,
     .check = check_q_order},
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
     .callees = kAll,
     .check = check_k_rows},
    {.rule = {.code = "FC-H206",
              .name = "seqlens-k-leave-keys-out",
              .severity = Severity::kWarning,
              .message = "rows {first}..{last} of k and v belong to no sequence: seqlens_k runs "
                         "from {begin} to {end}, k has {total_k} rows",
              .why =
                  "Nothing compares seqlens_k with the rows of k: keys outside are not attended.",
              .fix = "Let seqlens_k run from 0 to the number of rows of k.",
              .source = "kernels/block_info.h:34"},
     .kind = HazardKind::kWrong,
     .callees = kCandle,
     .check = check_keys_left_out},
    {.rule = {.code = "FC-H207",
              .name = "seqlens-k-decrease",
              .severity = Severity::kError,
              .message =
                  "sequence {sequence}: seqlens_k goes back from {begin} to {end}, so it has "
                  "no keys and its rows are 0",
              .why = "A negative length gives no key tiles: the output is 0 and lse is +inf, and "
                     "Ok is returned.",
              .fix = "seqlens_k is cumulative: each entry is the one before plus the length.",
              .source = "kernels/flash_fwd_kernel.h:112, 127, 568, 579"},
     .kind = HazardKind::kWrong,
     .callees = kCandle,
     .check = check_k_order},
    {.rule = {.code = "FC-H208",
              .name = "seqlens-over-31-bits",
              .severity = Severity::kError,
              .message = "{tensor}: entry {entry} is {value}, and the kernel reads {used}",
              .why = "The wrapper wants u32 and the kernel reads int32: lengths are differences of "
                     "negative numbers, and 4294967295 is -1, the mark for \"no table\".",
              .fix = "Entries are row numbers from 0 to 2147483647: look for a -1 written as u32.",
              .source = "candle-flash-attn/src/lib.rs:777-778; kernels/flash.h:71-72, "
                        "block_info.h:29, 34"},
     .kind = HazardKind::kWrong,
     .callees = kAll,
     .check = check_width},
};

constexpr HazardRule kSpareRoomRules[] = {
    {.rule = {.code = "FC-H221",
              .name = "keys-after-the-last-sequence",
              .severity = Severity::kInformation,
              .message = "rows {first}..{last} of k and v belong to no sequence: seqlens_k runs "
                         "from {begin} to {end}, k has {total_k} rows",
              .why =
                  "Nothing compares seqlens_k with the rows of k, so a cache may have room left.",
              .fix = "Nothing to do for a cache that is not full.",
              .source = "kernels/block_info.h:34"},
     .kind = HazardKind::kInformation,
     .callees = kCandle,
     .check = check_spare_room},
};

}  // namespace

std::span<const HazardRule> sequence_hazards() { return kRules; }
std::span<const HazardRule> spare_room_hazards() { return kSpareRoomRules; }

}  // namespace flashcheck
