#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <unordered_map>

#include "src/hazards/addresses.h"
#include "src/hazards/families.h"
#include "src/hazards/kernel_mask.h"
#include "src/hazards/tile_sizes.h"

namespace flashcheck {
namespace {

using std::to_string;

bool has_pages(const HazardContext& context) {
  return context.c.function->paged && context.launch.page_block_size > 0 && context.sequences;
}

/// Calls f(entry, first key, last key) for the entries that the kernel reads of a sequence's row,
/// as far as the row goes.
template <typename F>
void for_each_entry(const HazardContext& context, int64_t sequence, F&& f) {
  const int64_t page = context.launch.page_block_size;
  const int64_t columns = context.c.at(TensorName::kBlockTable).shape[1];
  int64_t next = 0;
  for (const KeySpan& span : loaded_keys(context, sequence)) {
    const int64_t end = std::min(columns, ceil_div(span.end, page));
    for (int64_t entry = std::max(next, span.begin / page); entry < end; ++entry) {
      f(entry, std::max(span.begin, entry * page), std::min(span.end, (entry + 1) * page) - 1);
      next = entry + 1;
    }
  }
}

void check_table_stride(const HazardContext& context, const Rule& rule, const EmitHazard& emit) {
  if (!context.c.function->paged) return;
  const TensorSpec& table = context.c.at(TensorName::kBlockTable);
  const int64_t used = context.launch.block_table_batch_stride;
  if (std::min<int64_t>(table.shape[0], context.launch.b) < 2 || table.strides[0] == used) return;
  Finding finding =
      make_finding(rule, "/tensors/block_table/strides/0",
                   {{"stride", to_string(table.strides[0])}, {"used", to_string(used)}});
  const int64_t elements = context.c.storage_elements(table);
  const Address row_1 = address_of(table.offset, {{"row", 1, used}});
  if (!row_1.is_inside(elements)) {
    finding.details.push_back("block_table is read at " + against_storage(row_1, elements));
  } else if (context.block_table && used > 0 && table.strides[0] > used) {
    finding.details.push_back(
        fmt::format("sequence 1: its first page is {}, and the kernel reads element {}, in the gap "
                    "between rows",
                    context.declared_page(1, 0), *row_1.element));
  } else if (context.block_table && used > 0 && table.strides[0] > 0) {
    finding.details.push_back(fmt::format("sequence 1: its first page is {}, and {} is read",
                                          context.declared_page(1, 0),
                                          *context.launched_page(1, 0)));
  }
  finding.fix = "pass block_table.contiguous()";
  emit(std::move(finding));
}

void check_table_rows(const HazardContext& context, const Rule& rule, const EmitHazard& emit) {
  if (!context.c.function->paged) return;
  const TensorSpec& table = context.c.at(TensorName::kBlockTable);
  if (table.shape[0] >= context.launch.b) return;
  Finding finding = make_finding(
      rule, "/tensors/block_table/shape/0",
      {{"rows", to_string(table.shape[0])}, {"sequences", to_string(context.launch.b)}});
  finding.details.push_back(
      "block_table is read at " +
      against_storage(address_of(table.offset, {{"row", table.shape[0],
                                                 context.launch.block_table_batch_stride}}),
                      context.c.storage_elements(table)));
  finding.fix = fmt::format("pass a block_table of shape [{}, {}]: one row a sequence",
                            context.launch.b, table.shape[1]);
  emit(std::move(finding));
}

/// "from sequence 1's row [4, 5]" or "from whatever follows the table": what a row that is too
/// short runs into.
std::string what_follows(const HazardContext& context, int64_t sequence, int64_t columns) {
  const TensorSpec& table = context.c.at(TensorName::kBlockTable);
  if (sequence + 1 >= table.shape[0]) return "from whatever follows the table";
  std::string next = fmt::format("from sequence {}'s row", sequence + 1);
  if (!context.block_table || table.strides[0] != columns) return next;
  next += " [";
  for (int64_t i = 0; i < std::min<int64_t>(columns, 4); ++i) {
    next += fmt::format("{}{}", i ? ", " : "", context.declared_page(sequence + 1, i));
  }
  return next + (columns > 4 ? ", …]" : "]");
}

/// "[2, 3, 6, 7]": the row [1, 3] of a table of larger pages, in the pages of this call. Empty
/// where the larger page is no multiple, or the pool has no such pages.
std::string row_in_smaller_pages(const HazardContext& context, int64_t sequence, int64_t larger,
                                 int64_t needed) {
  constexpr int64_t kMaxShown = 8;
  const int64_t page = context.launch.page_block_size, ratio = larger / page;
  const TensorSpec& table = context.c.at(TensorName::kBlockTable);
  if (!context.block_table || larger % page != 0 || sequence >= table.shape[0]) return "";
  std::string row;
  for (int64_t n = 0; n < std::min(needed, kMaxShown); ++n) {
    const int64_t id = context.declared_page(sequence, n / ratio) * ratio + n % ratio;
    if (id < 0 || id >= context.c.k().shape[0]) return "";
    row += fmt::format("{}{}", n == 0 ? "[" : ", ", id);
  }
  return row + (needed > kMaxShown ? ", …]" : "]");
}

void check_table_columns(const HazardContext& context, const Rule& rule, const EmitHazard& emit) {
  if (!has_pages(context)) return;
  const int64_t page = context.launch.page_block_size;
  const TensorSpec& table = context.c.at(TensorName::kBlockTable);
  const int64_t columns = table.shape[1];
  for_each_sequence(context, [&](int64_t b, const LaunchedSequence&) {
    const std::vector<KeySpan> loaded = loaded_keys(context, b);
    if (loaded.empty()) return;
    const int64_t keys = loaded.back().end;
    const int64_t needed = ceil_div(keys, page);
    if (needed <= columns) return;
    Finding finding = make_finding(rule, "/tensors/block_table/shape/1",
                                   {{"sequence", to_string(b)},
                                    {"length", to_string(keys)},
                                    {"needed", to_string(needed)},
                                    {"page_block_size", to_string(page)},
                                    {"columns", to_string(columns)},
                                    {"follows", what_follows(context, b, columns)}});
    const int64_t stride = context.launch.block_table_batch_stride;
    const Address past = address_of(table.offset, {{"row", b, stride}, {"entry", columns, 1}});
    if (!past.is_inside(context.c.storage_elements(table))) {
      finding.details.push_back("block_table is read at " +
                                against_storage(past, context.c.storage_elements(table)));
    }
    if (columns > 0) {
      const int64_t other = round_up(ceil_div(keys, columns), 32);
      finding.details.push_back(fmt::format(
          "{} x {} = {} would hold it: is the table made for pages of {}? This call's have {}",
          columns, other, columns * other, other, page));
      if (std::string row = row_in_smaller_pages(context, b, other, needed); !row.empty()) {
        finding.details.push_back(
            fmt::format("then its row in pages of {} is {}", page, std::move(row)));
      }
    }
    finding.fix = fmt::format("give every row {} entries, or correct seqlens_k", needed);
    emit(std::move(finding));
  });
}

/// "5, 2, 0": the pages that the entries are if they were written as first slots. Empty unless two
/// of them or more are no pages, and every one is a page once it is divided by the page size.
std::string pages_of_first_slots(const HazardContext& context) {
  constexpr int64_t kMaxShown = 8;
  const TensorSpec& table = context.c.at(TensorName::kBlockTable);
  const int64_t page = context.launch.page_block_size, num_blocks = context.c.k().shape[0];
  int64_t count = 0, num_outside = 0;
  bool are_slots = true;
  std::string pages;
  for_each_sequence(context, [&](int64_t b, const LaunchedSequence&) {
    if (b >= table.shape[0] || !are_slots) return;
    for_each_entry(context, b, [&](int64_t entry, int64_t, int64_t) {
      const int64_t id = context.declared_page(b, entry);
      are_slots &= id >= 0 && id % page == 0 && id / page < num_blocks;
      num_outside += id >= num_blocks;
      if (++count <= kMaxShown) pages += fmt::format("{}{}", count > 1 ? ", " : "", id / page);
    });
  });
  if (!are_slots || num_outside < 2) return "";
  return count > kMaxShown ? pages + ", …" : pages;
}

/// Ids that are pages of another cache, or none: `negative` or too large.
void check_block_ids(const HazardContext& context, const Rule& rule, const EmitHazard& emit,
                     bool negative) {
  if (!has_pages(context) || !context.block_table) return;
  const TensorSpec& table = context.c.at(TensorName::kBlockTable);
  const TensorSpec& k = context.c.k();
  const int64_t num_blocks = k.shape[0];
  const std::string pages = negative ? "" : pages_of_first_slots(context);
  bool is_told = false;
  for_each_sequence(context, [&](int64_t b, const LaunchedSequence&) {
    if (b >= table.shape[0]) return;
    for_each_entry(context, b, [&](int64_t entry, int64_t first, int64_t last) {
      const int64_t id = (*context.block_table)[static_cast<size_t>(b * table.shape[1] + entry)];
      const int64_t used = context.declared_page(b, entry);
      if ((negative ? used >= 0 : used < num_blocks) || is_told) return;
      Finding finding = make_finding(
          rule, fmt::format("/tensors/block_table/values/{}/{}", b, entry),
          {{"sequence", to_string(b)},
           {"entry", to_string(entry)},
           {"id", used == id ? to_string(id) : fmt::format("{} (int32: {})", id, used)},
           {"first", to_string(first)},
           {"last", to_string(last)},
           {"num_blocks", to_string(num_blocks)}});
      finding.details.push_back(fmt::format(
          "keys {}..{}: k is read at {}", first, last,
          against_storage(address_of(k.offset, {{"page", used, context.launch.k_batch_stride}}),
                          context.c.storage_elements(k))));
      finding.fix =
          negative ? fmt::format(
                         "give keys {}..{} a page (padding may stand only past the last "
                         "key), or correct seqlens_k",
                         first, last)
                   : fmt::format("ids run from 0 to {}: correct the entry, or pass the whole pool",
                                 num_blocks - 1);
      if (!pages.empty()) {
        is_told = true;
        finding.details.push_back(
            fmt::format("every entry is a multiple of {}, and divided by it they are pages {}: are "
                        "these first slots?",
                        context.launch.page_block_size, pages));
        finding.fix = "divide the entries by page_block_size: a block_table holds page numbers";
      }
      emit(std::move(finding));
    });
  });
}

void check_large_ids(const HazardContext& context, const Rule& rule, const EmitHazard& emit) {
  check_block_ids(context, rule, emit, false);
}

void check_negative_ids(const HazardContext& context, const Rule& rule, const EmitHazard& emit) {
  check_block_ids(context, rule, emit, true);
}

void check_shared_pages(const HazardContext& context, const Rule& rule, const EmitHazard& emit) {
  if (!has_pages(context) || !context.block_table) return;
  const TensorSpec& table = context.c.at(TensorName::kBlockTable);
  struct Place {
    int64_t sequence, entry;
    bool is_told;
  };
  std::unordered_map<int64_t, Place> first_place;
  for_each_sequence(context, [&](int64_t b, const LaunchedSequence&) {
    if (b >= table.shape[0]) return;
    for_each_entry(context, b, [&](int64_t entry, int64_t, int64_t) {
      const int64_t page = context.declared_page(b, entry);
      const auto [found, is_new] = first_place.try_emplace(page, Place{b, entry, false});
      Place& place = found->second;
      if (is_new || place.is_told) return;
      place.is_told = true;
      emit(make_finding(rule, fmt::format("/tensors/block_table/values/{}/{}", b, entry),
                        {{"page", to_string(page)},
                         {"first_sequence", to_string(place.sequence)},
                         {"first_entry", to_string(place.entry)},
                         {"sequence", to_string(b)},
                         {"entry", to_string(entry)}}));
    });
  });
}

void check_page_size(const HazardContext& context, const Rule& rule, const EmitHazard& emit) {
  if (!context.c.function->paged || context.launch.page_block_size != 0) return;
  const auto has_keys = [](const LaunchedSequence& s) {
    return s.seqlen_q() > 0 && s.seqlen_k() > 0;
  };
  if (context.sequences &&
      std::none_of(context.sequences->begin(), context.sequences->end(), has_keys)) {
    return;
  }
  emit(make_finding(rule, "/args/page_block_size", {}));
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
     .callees = kV2,
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
     .callees = kV2,
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
     .callees = kV2 | kDirect,
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
     .callees = kV2 | kDirect,
     .check = check_large_ids},
    {.rule = {.code = "FC-H305",
              .name = "block-id-negative",
              .severity = Severity::kError,
              .message = "sequence {sequence}: entry {entry} of its block_table row is {id}, no "
                         "page, and keys {first}..{last} are in it",
              .why = "Page numbers are int32: -1, and any u32 from 2147483648 on, lies before the "
                     "pool. Padding is harmless only where no key is.",
              .fix = "Give every page that holds keys its number.",
              .source = "kernels/flash.h:100; kernels/flash_fwd_kernel.h:635, 639"},
     .kind = HazardKind::kOutOfBoundsRead,
     .callees = kV2 | kDirect,
     .check = check_negative_ids},
    {.rule = {.code = "FC-H306",
              .name = "page-shared",
              .severity = Severity::kInformation,
              .message =
                  "page {page} is entry {first_entry} of sequence {first_sequence} and entry "
                  "{entry} of sequence {sequence}",
              .why = "Pages are only read, so a shared prefix is right.",
              .fix =
                  "Nothing to do for a shared prefix; twice in one row means that its keys count "
                  "twice.",
              .source = "kernels/flash_fwd_kernel.h:635"},
     .kind = HazardKind::kInformation,
     .callees = kV2 | kDirect,
     .check = check_shared_pages},
    {.rule = {.code = "FC-H307",
              .name = "page-size-zero",
              .severity = Severity::kError,
              .message = "page_block_size is 0",
              .why = "0 passes the check for a multiple of 32, and the kernel divides by it: the "
                     "table index is undefined.",
              .fix = "Pass k and v of shape [num_blocks, page_block_size, num_heads_k, head_dim].",
              .source = "candle-flash-attn/src/lib.rs:577, kernels/flash_fwd_kernel.h:630-631"},
     .kind = HazardKind::kOutOfBoundsRead,
     .callees = kV2,
     .check = check_page_size},
};

}  // namespace

std::span<const HazardRule> paging_hazards() { return kRules; }

}  // namespace flashcheck
