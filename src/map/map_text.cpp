#include "src/map/map_text.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "src/map/key_picture.h"
#include "src/map/map_words.h"
#include "src/report/text_block.h"

namespace flashcheck {
namespace {

/// The prefix of a report's line; an empty label continues the one above.
std::string label_prefix(std::string_view label) { return fmt::format("  {:<9}", label); }

std::string place_words(const KvMap& map, const Piece& piece) {
  const KeyRange rows{piece.row, piece.row + piece.positions.end - piece.positions.begin};
  switch (piece.kind) {
    case PlaceKind::kRows:
      if (map.is_paged) return fmt::format("page {}", piece.page);
      if (map.is_varlen) return fmt::format("rows {}", span_words(rows));
      return fmt::format("batch entry {}", piece.page);
    case PlaceKind::kNoSuchRows:
      return fmt::format("rows {}, past k's {}", span_words(rows), map.num_rows);
    case PlaceKind::kNoSuchPage:
      if (!map.is_paged) {
        return fmt::format("batch entry {}, but k has {}", piece.page, *map.num_blocks);
      }
      return map.num_blocks ? fmt::format("page {}, but there are {}", piece.page, *map.num_blocks)
                            : fmt::format("page {}, which cannot be", piece.page);
    case PlaceKind::kPastTable:
      return "past the row";
    case PlaceKind::kUnknownPage:
      return "unknown";
  }
  return "";
}

/// "0..31 -> page 6 (shared)".
std::string piece_words(const KvMap& map, const MappedSequence& sequence, const Piece& piece) {
  std::vector<std::string> remarks;
  const KeyRange& unused = sequence.unused_rows;
  if (piece.is_shared) remarks.emplace_back("shared");
  if (piece.positions.end == sequence.seqlen_k && unused.begin < unused.end) {
    remarks.push_back(fmt::format("rows {} unused", span_words(unused)));
  }
  if (!piece.is_seen && sequence.seqlen_q > 0) remarks.emplace_back("no query row sees them");
  if (!piece.kernel_pages.empty()) {
    remarks.push_back(fmt::format("the kernel reads page{} {}",
                                  piece.kernel_pages.size() == 1 ? "" : "s",
                                  fmt::join(piece.kernel_pages, ", ")));
  }
  std::string text = fmt::format("{} -> {}", span_words(piece.positions), place_words(map, piece));
  return remarks.empty() ? text : text + fmt::format(" ({})", fmt::join(remarks, "; "));
}

std::string overview(const KvMap& map, int width) {
  std::string text;
  for (const MappedSequence& sequence : map.sequences) {
    std::vector<std::string> cells;
    for (const Piece& piece : sequence.pieces) {
      cells.push_back(piece_words(map, sequence, piece));
    }
    if (sequence.seqlen_k == 0) cells.emplace_back("no keys");
    if (sequence.seqlen_q == 0) cells.emplace_back("no query rows: none of it is read");
    if (sequence.num_more_pieces > 0) {
      cells.push_back(more_words(sequence.num_more_pieces, "piece"));
    }
    if (sequence.kernel_stops_at) {
      cells.push_back(fmt::format("the kernel stops before {}: max_seqlen_k is too small",
                                  *sequence.kernel_stops_at));
    }
    text += laid_out(fmt::format("MAP  sequence {}   ", sequence.number), cells, width);
  }
  if (map.num_more_sequences > 0) {
    text += "MAP  " + more_words(map.num_more_sequences, "sequence") + '\n';
  }
  return text;
}

/// "k 4096..8191", and that it is not there if its storage has ended.
std::string bytes_of(std::string_view tensors, const ByteRuns& bytes,
                     const std::optional<int64_t>& storage_bytes) {
  const std::string text = fmt::format("{} {}", tensors, bytes_words(bytes));
  if (!storage_bytes || bytes.end_bytes() <= *storage_bytes) return text;
  return text + fmt::format(", past the storage's {}", *storage_bytes);
}

/// The bytes of k and of v; together where they are the same ones of two storages.
std::vector<std::string> byte_cells(const KvMap& map, const Piece& piece) {
  if (piece.k == piece.v && !map.has_one_storage && map.k_storage_bytes == map.v_storage_bytes) {
    return {bytes_of("k, v", *piece.k, map.k_storage_bytes)};
  }
  std::vector<std::string> cells;
  if (piece.k) cells.push_back(bytes_of("k", *piece.k, map.k_storage_bytes));
  if (piece.v) cells.push_back(bytes_of("v", *piece.v, map.v_storage_bytes));
  return cells;
}

/// "0..31   page 6   rows 0..31", in columns of the widths.
struct PlaceColumns {
  size_t positions = 0, page = 0, rows = 0;
};
std::string place_columns(const KvMap& map, const Piece& piece, PlaceColumns& widths) {
  const int64_t count = piece.positions.end - piece.positions.begin;
  const std::string positions = span_words(piece.positions);
  const std::string page = map.is_paged ? fmt::format("page {}   ", piece.page) : "";
  const std::string rows =
      fmt::format("row{} {}", count == 1 ? "" : "s", span_words({piece.row, piece.row + count}));
  widths.positions = std::max(widths.positions, positions.size());
  widths.page = std::max(widths.page, page.size());
  widths.rows = std::max(widths.rows, rows.size());
  return fmt::format("{:<{}}   {:<{}}{:<{}}   ", positions, widths.positions, page, widths.page,
                     rows, widths.rows);
}

std::string byte_table(const KvMap& map, int width) {
  std::string text;
  for (const MappedSequence& sequence : map.sequences) {
    const auto has_bytes = [](const Piece& piece) { return piece.k || piece.v; };
    if (std::none_of(sequence.pieces.begin(), sequence.pieces.end(), has_bytes)) continue;
    text += laid_out(label_prefix("bytes"), {fmt::format("sequence {}", sequence.number)}, width);
    PlaceColumns widths;
    for (const Piece& piece : sequence.pieces) {
      if (has_bytes(piece)) place_columns(map, piece, widths);
    }
    for (const Piece& piece : sequence.pieces) {
      if (!has_bytes(piece)) continue;
      text += laid_out(label_prefix("") + place_columns(map, piece, widths), byte_cells(map, piece),
                       width);
    }
  }
  return text;
}

std::string sharing_text(const KvMap& map, int width) {
  std::vector<std::string> cells;
  for (const SharedPage& page : map.shared_pages) {
    const bool is_alone = page.sequences.size() == 1;
    cells.push_back(is_alone
                        ? fmt::format("page {}: twice in sequence {}", page.page, page.sequences[0])
                        : fmt::format("page {}: sequences {}{}", page.page,
                                      fmt::join(page.sequences, ", "),
                                      page.num_more_sequences > 0
                                          ? ", " + more_words(page.num_more_sequences, "sequence")
                                          : ""));
  }
  if (map.num_more_shared_pages > 0) {
    cells.push_back(more_words(map.num_more_shared_pages, "page"));
  }
  return cells.empty() ? "" : laid_out(label_prefix("shared"), cells, width);
}

std::string unused_text(const KvMap& map, int width) {
  if (map.unused.empty()) return "";
  std::string list;
  for (const KeyRange& range : map.unused) {
    list += (list.empty() ? "" : ", ") + span_words(range);
  }
  if (map.num_more_unused > 0) list += ", " + more_words(map.num_more_unused, "range");
  const bool is_one = map.unused.size() == 1 && map.unused[0].end - map.unused[0].begin == 1;
  return labelled("unused",
                  fmt::format("{}{} {}: no sequence has {}", map.is_paged ? "page" : "row",
                              is_one ? "" : "s", list, is_one ? "it" : "them"),
                  width);
}

std::string_view sharing_words(Sharing sharing) {
  switch (sharing) {
    case Sharing::kApart:
      return "lie apart";
    case Sharing::kInterleaved:
      return "are interleaved: no byte belongs to both";
    case Sharing::kShared:
      return "share bytes";
    case Sharing::kUnsettled:
      return "may share bytes: more combinations than were tried";
  }
  return "";
}

std::string storage_text(const KvMap& map, int width) {
  std::string text;
  for (const MappedStorage& storage : map.storages) {
    std::vector<std::string> cells{
        fmt::format("{}, {} bytes", printable(storage.name), storage.size_bytes)};
    for (const StorageView& view : storage.views) {
      cells.push_back(fmt::format("{} {}{}", name_of(view.tensor),
                                  view.bytes ? bytes_words(*view.bytes) : "beyond 2^63",
                                  view.leaves_storage ? ", leaves it" : ""));
    }
    text += laid_out(label_prefix("storage"), cells, width);
    for (const MappedStorage::Pair& pair : storage.pairs) {
      text += labelled("",
                       fmt::format("{} and {} {}", name_of(pair.a), name_of(pair.b),
                                   sharing_words(pair.sharing)),
                       width);
    }
  }
  return text;
}

std::string sight_text(const KvMap& map, int width) {
  if (map.sequences.empty()) return "";
  if (!map.is_masked) {
    return labelled("sees", "every query row sees every key of its sequence", width);
  }
  std::string text;
  for (const MappedSequence& sequence : map.sequences) {
    if (sequence.rows.empty() || sequence.seqlen_k == 0) continue;
    const std::string prefix = label_prefix("");
    const std::vector<std::string> lines = key_picture(sequence, width - columns_of(prefix));
    const std::string who =
        map.is_varlen ? fmt::format("sequence {}", sequence.number) : "every sequence";
    text += labelled("sees", who + ": " + lines[0], width);
    for (size_t i = 1; i < lines.size(); ++i) text += prefix + lines[i] + '\n';
  }
  return text;
}

}  // namespace

std::string map_text(const KvMap& map, int width) {
  std::string text = overview(map, width);
  text += byte_table(map, width) + sharing_text(map, width) + unused_text(map, width);
  text += storage_text(map, width) + sight_text(map, width);
  for (const std::string& sentence : map.unknown) text += labelled("open", sentence, width);
  return text;
}

}  // namespace flashcheck
