#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "src/hazards/families.h"

namespace flashcheck {
namespace {

int64_t pages_of(int64_t keys, int64_t page_block_size) {
  return (keys + page_block_size - 1) / page_block_size;
}

void check_page_size(const HazardContext& context, const Rule& rule, const EmitHazard& emit) {
  if (!context.c.function->paged || context.launch.page_block_size != 0) return;
  if (context.sequences &&
      std::none_of(context.sequences->begin(), context.sequences->end(),
                   [](const LaunchedSequence& s) { return s.seqlen_k() > 0; })) {
    return;
  }
  emit(make_finding(rule, "/args/page_block_size", {}));
}

void check_table_rows(const HazardContext& context, const Rule& rule, const EmitHazard& emit) {
  if (!context.c.function->paged) return;
  const TensorSpec& table = context.c.at(TensorName::kBlockTable);
  if (table.shape[0] >= context.launch.b) return;
  Finding finding = make_finding(
      rule, "/tensors/block_table/shape/0",
      {{"rows", std::to_string(table.shape[0])}, {"sequences", std::to_string(context.launch.b)}});
  finding.fix = fmt::format("pass a block_table of shape [{}, {}]: one row a sequence",
                            context.launch.b, table.shape[1]);
  emit(std::move(finding));
}

/// "and past the table's end" or "sequence 1's row [4, 5]": what a row that is too short runs into.
std::string what_follows(const HazardContext& context, int64_t sequence, int64_t columns) {
  const TensorSpec& table = context.c.at(TensorName::kBlockTable);
  if (sequence + 1 >= table.shape[0]) return "past the table's end";
  std::string next = fmt::format("from sequence {}'s row", sequence + 1);
  if (!context.block_table) return next;
  next += " [";
  for (int64_t i = 0; i < std::min<int64_t>(columns, 4); ++i) {
    next += fmt::format("{}{}", i ? ", " : "", context.declared_page(sequence + 1, i));
  }
  return next + (columns > 4 ? ", …]" : "]");
}

void check_table_columns(const HazardContext& context, const Rule& rule, const EmitHazard& emit) {
  const int64_t page = context.launch.page_block_size;
  if (!context.c.function->paged || page == 0 || !context.sequences) return;
  const int64_t columns = context.c.at(TensorName::kBlockTable).shape[1];
  for (size_t b = 0; b < context.sequences->size(); ++b) {
    const int64_t keys = context.visited_keys((*context.sequences)[b]);
    const int64_t needed = pages_of(keys, page);
    if (needed <= columns) continue;
    const int64_t sequence = static_cast<int64_t>(b);
    Finding finding = make_finding(rule, "/tensors/block_table/shape/1",
                                   {{"sequence", std::to_string(b)},
                                    {"length", std::to_string(keys)},
                                    {"needed", std::to_string(needed)},
                                    {"page_block_size", std::to_string(page)},
                                    {"columns", std::to_string(columns)},
                                    {"follows", what_follows(context, sequence, columns)}});
    if (columns > 0) {
      const int64_t would_hold = (keys + columns - 1) / columns;
      finding.details.push_back(
          fmt::format("{} pages of {} would hold it: is the table in pages of another size?",
                      columns, (would_hold + 31) / 32 * 32));
    }
    finding.fix = fmt::format("give every row {} entries, or correct seqlens_k", needed);
    emit(std::move(finding));
  }
}

void check_block_ids(const HazardContext& context, const Rule& rule, const EmitHazard& emit) {
  const int64_t page = context.launch.page_block_size;
  if (!context.c.function->paged || page == 0 || !context.sequences || !context.block_table) return;
  const TensorSpec& table = context.c.at(TensorName::kBlockTable);
  const int64_t num_blocks = context.c.k().shape[0];
  const int64_t batch = std::min(static_cast<int64_t>(context.sequences->size()), table.shape[0]);
  for (int64_t b = 0; b < batch; ++b) {
    const int64_t keys = context.visited_keys((*context.sequences)[static_cast<size_t>(b)]);
    const int64_t used = std::min(pages_of(keys, page), table.shape[1]);
    for (int64_t entry = 0; entry < used; ++entry) {
      const int64_t id = (*context.block_table)[static_cast<size_t>(b * table.shape[1] + entry)];
      if (id >= 0 && id < num_blocks) continue;
      Finding finding =
          make_finding(rule, fmt::format("/tensors/block_table/values/{}/{}", b, entry),
                       {{"sequence", std::to_string(b)},
                        {"entry", std::to_string(entry)},
                        {"id", std::to_string(id)},
                        {"num_blocks", std::to_string(num_blocks)}});
      finding.details.push_back(fmt::format(
          "keys {}..{} of sequence {} are read at {} * {} elements from k's start", entry * page,
          std::min(keys, (entry + 1) * page) - 1, b, id, context.launch.k_batch_stride));
      finding.fix = fmt::format("ids run from 0 to {}: correct the entry, or pass the whole pool",
                                num_blocks - 1);
      emit(std::move(finding));
    }
  }
}

void check_table_stride(const HazardContext& context, const Rule& rule, const EmitHazard& emit) {
  if (!context.c.function->paged) return;
  const TensorSpec& table = context.c.at(TensorName::kBlockTable);
  const int64_t used = context.launch.block_table_batch_stride;
  if (table.shape[0] < 2 || table.strides[0] == used) return;
  Finding finding =
      make_finding(rule, "/tensors/block_table/strides/0",
                   {{"stride", std::to_string(table.strides[0])}, {"used", std::to_string(used)}});
  finding.fix = "pass block_table.contiguous()";
  emit(std::move(finding));
}

constexpr HazardRule kRules[] = {
    {.rule = {.code = "FC-H301",
              .name = "block-table-stride-ignored",
              .severity = Severity::kError,
              .message =
                  "block_table has a row stride of {stride}, and the kernel uses {used}, its "
                  "number of columns",
              .why =
                  "The wrapper takes the table's batch stride from its shape. Of a table narrowed "
                  "from a wider one, every row after the first is read from the wrong place.",
              .fix = "Make block_table contiguous.",
              .source = "candle-flash-attn/src/lib.rs:507-515, kernels/flash_fwd_kernel.h:629"},
     .kind = HazardKind::kWrong,
     .check = check_table_stride},
    {.rule = {.code = "FC-H302",
              .name = "block-table-too-few-rows",
              .severity = Severity::kError,
              .message = "block_table has {rows} rows for {sequences} sequences",
              .why =
                  "The rows of the table are never compared with the batch: the kernel reads the "
                  "table past its end and takes what it finds for page numbers.",
              .fix = "Pass one row for each sequence.",
              .source = "candle-flash-attn/src/lib.rs:507"},
     .kind = HazardKind::kOutOfBoundsRead,
     .check = check_table_rows},
    {.rule = {.code = "FC-H303",
              .name = "block-table-row-too-short",
              .severity = Severity::kError,
              .message = "sequence {sequence}: length {length} needs {needed} pages of "
                         "{page_block_size}, its row has {columns}: pages past the end are read "
                         "{follows}",
              .why =
                  "The index into the table is not checked: a row that is too short continues in "
                  "the next sequence's row, and another sequence's cache is attended.",
              .fix = "Give every row as many entries as the longest sequence has pages.",
              .source = "kernels/flash_fwd_kernel.h:630, 635, 914-916, 953-955"},
     .kind = HazardKind::kOutOfBoundsRead,
     .check = check_table_columns},
    {.rule = {.code = "FC-H304",
              .name = "block-id-out-of-range",
              .severity = Severity::kError,
              .message = "sequence {sequence}: entry {entry} of its block_table row is page {id}, "
                         "and k and v have {num_blocks} pages",
              .why =
                  "Page numbers are multiplied into an address without a check: k and v are read "
                  "outside the pool.",
              .fix =
                  "Correct the entry; only entries past a sequence's last page may hold padding.",
              .source = "kernels/flash_fwd_kernel.h:635, 639"},
     .kind = HazardKind::kOutOfBoundsRead,
     .check = check_block_ids},
    {.rule = {.code = "FC-H307",
              .name = "page-size-zero",
              .severity = Severity::kError,
              .message = "page_block_size is 0",
              .why = "0 passes the check for a multiple of 32, and the kernel divides by it: the "
                     "table index is undefined.",
              .fix = "Pass k and v of shape [num_blocks, page_block_size, num_heads_k, head_dim].",
              .source = "candle-flash-attn/src/lib.rs:577, kernels/flash_fwd_kernel.h:630-631"},
     .kind = HazardKind::kOutOfBoundsRead,
     .check = check_page_size},
};

}  // namespace

std::span<const HazardRule> paging_hazards() { return kRules; }

}  // namespace flashcheck
