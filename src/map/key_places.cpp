#include "src/map/key_places.h"

#include <fmt/format.h>

#include <algorithm>

#include "src/spec/checked.h"

namespace flashcheck {
namespace {

constexpr int64_t kMaxPagesReadOn = 4;  // of those past a table's end

}  // namespace

KeyPlaces::KeyPlaces(const Case& c, const LaunchParams* launch, const Inputs* small,
                     const DrawnCall& drawn)
    : c_(c), launch_(launch), small_(small), drawn_(drawn) {
  const int rank = c.function->varlen && !c.function->paged ? 3 : 4;
  for (const TensorName name : {TensorName::kK, TensorName::kV}) {
    if (c.at(name).rank() != rank) {
      unknown_.push_back(fmt::format("{} has rank {}, not {}: where its rows are is open",
                                     name_of(name), c.at(name).rank(), rank));
    }
  }
  if (rank == 4 && c.k().rank() == 4) num_blocks_ = c.k().shape[0];
  if (!c.function->paged) return;
  page_block_size_ = c.args.page_block_size;
  if (num_blocks_) {
    page_block_size_ = c.k().shape[1];
    if (page_block_size_ != c.args.page_block_size) {
      unknown_.push_back(
          fmt::format("page_block_size is {}, k's pages have {} rows: drawn with k's",
                      c.args.page_block_size, page_block_size_));
    }
  }
  if (page_block_size_ == 0) unknown_.emplace_back("a page has no rows: no pages to draw");
}

std::vector<Piece> KeyPlaces::pieces_of(int64_t sequence) const {
  const Sequence& s = drawn_.problem.sequences[static_cast<size_t>(sequence)];
  if (s.seqlen_k == 0) return {};
  if (c_.function->paged) return pages_of(sequence);
  Piece piece{.positions = {0, s.seqlen_k}, .page = sequence};
  if (!c_.function->varlen) {
    if (num_blocks_ && sequence >= *num_blocks_) piece.kind = PlaceKind::kNoSuchPage;
    return {placed(piece)};
  }

  piece.page = 0;
  piece.row = s.k_start;
  const int64_t num_rows = c_.k().rank() == 3 ? c_.k().shape[0] : s.k_start + s.seqlen_k;
  const int64_t there = std::clamp<int64_t>(num_rows - s.k_start, 0, s.seqlen_k);
  std::vector<Piece> pieces;
  if (there > 0) pieces.push_back(placed(part_of(piece, {0, there})));
  if (there < s.seqlen_k) {
    piece.kind = PlaceKind::kNoSuchRows;
    pieces.push_back(part_of(piece, {there, s.seqlen_k}));
  }
  return pieces;
}

std::vector<Piece> KeyPlaces::pages_of(int64_t sequence) const {
  const int64_t keys = drawn_.problem.sequences[static_cast<size_t>(sequence)].seqlen_k;
  if (!drawn_.block_table || page_block_size_ <= 0) {
    return {Piece{.positions = {0, keys}, .kind = PlaceKind::kUnknownPage}};
  }
  const auto& table = *drawn_.block_table;
  const std::vector<int64_t> no_entries;
  const bool has_row = sequence < static_cast<int64_t>(table.size());
  const auto& entries = has_row ? table[static_cast<size_t>(sequence)] : no_entries;
  const int64_t needed = keys / page_block_size_ + (keys % page_block_size_ != 0);
  const int64_t given = std::min(needed, static_cast<int64_t>(entries.size()));

  std::vector<Piece> pieces;
  for (int64_t entry = 0; entry < given; ++entry) {
    Piece piece{.positions = {entry * page_block_size_,
                              std::min(keys - entry * page_block_size_, page_block_size_) +
                                  entry * page_block_size_},
                .page = entries[static_cast<size_t>(entry)]};
    const bool is_there = piece.page >= 0 && (!num_blocks_ || piece.page < *num_blocks_);
    if (!is_there) piece.kind = PlaceKind::kNoSuchPage;
    const std::optional<int64_t> read = kernel_page(sequence, entry);
    if (read && *read != piece.page) piece.kernel_pages.push_back(*read);
    pieces.push_back(placed(std::move(piece)));
  }
  if (given == needed) return pieces;
  Piece past{.positions = {given * page_block_size_, keys}, .kind = PlaceKind::kPastTable};
  for (int64_t entry = given; entry < std::min(needed, given + kMaxPagesReadOn); ++entry) {
    if (const auto read = kernel_page(sequence, entry)) past.kernel_pages.push_back(*read);
  }
  pieces.push_back(std::move(past));
  return pieces;
}

Piece KeyPlaces::part_of(const Piece& piece, const KeyRange& positions) const {
  Piece part = piece;
  part.row += positions.begin - piece.positions.begin;
  part.positions = positions;
  return piece.k || piece.v ? placed(std::move(part)) : part;
}

Piece KeyPlaces::placed(Piece piece) const {
  piece.k = bytes_of(c_.k(), piece);
  piece.v = bytes_of(c_.v(), piece);
  return piece;
}

std::optional<ByteRuns> KeyPlaces::bytes_of(const TensorSpec& tensor, const Piece& piece) const {
  const size_t rank = tensor.shape.size();
  const bool is_flat = c_.function->varlen && !c_.function->paged;
  if (rank != (is_flat ? 3u : 4u) || piece.page < 0) return std::nullopt;
  const int64_t bytes = size_in_bytes(tensor.dtype);
  const std::optional<int64_t> outer =
      is_flat ? std::optional<int64_t>(0) : checked_mul(piece.page, tensor.strides[0]);
  const std::optional<int64_t> rows = checked_mul(piece.row, tensor.strides[rank - 3]);
  std::optional<int64_t> begin = outer && rows ? checked_add(*outer, *rows) : std::nullopt;
  begin = begin ? checked_add(*begin, tensor.offset) : std::nullopt;
  begin = begin ? checked_mul(*begin, bytes) : std::nullopt;
  if (!begin) return std::nullopt;

  std::vector<ByteLoop> loops{{piece.positions.end - piece.positions.begin, 0},
                              {tensor.shape[rank - 2], 0},
                              {tensor.shape[rank - 1], 0}};
  for (size_t i = 0; i < loops.size(); ++i) {
    const std::optional<int64_t> stride = checked_mul(tensor.strides[rank - 3 + i], bytes);
    if (!stride) return std::nullopt;
    loops[i].stride_bytes = *stride;
  }
  return byte_runs(*begin, bytes, std::move(loops));
}

std::optional<int64_t> KeyPlaces::kernel_page(int64_t sequence, int64_t entry) const {
  if (!launch_ || !small_) return std::nullopt;
  const TensorSpec& table = c_.at(TensorName::kBlockTable);
  const StorageBytes& storage = small_->storages[static_cast<size_t>(table.storage)];
  const int64_t at = table.offset + sequence * launch_->block_table_batch_stride + entry;
  if (at >= storage.size_bytes() / size_in_bytes(table.dtype)) return std::nullopt;
  return static_cast<int32_t>(read_integer(storage, table.dtype, at));
}

}  // namespace flashcheck
