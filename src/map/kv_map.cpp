#include "src/map/kv_map.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "src/map/drawn_call.h"
#include "src/map/key_places.h"
#include "src/map/mapped_storages.h"
#include "src/spec/checked.h"

namespace flashcheck {
namespace {

constexpr int64_t kTileRows = 64;  // the smallest query tile that candle's kernels take

/// All rows, or `count` of them: the first, the last, and those on both sides of tile boundaries.
std::set<int64_t> telling_rows(int64_t num_rows, int64_t count) {
  std::set<int64_t> rows;
  if (num_rows <= count) {
    for (int64_t row = 0; row < num_rows; ++row) rows.insert(row);
    return rows;
  }
  for (const int64_t edge : {0, 1, 2}) {
    rows.insert(edge);
    rows.insert(num_rows - 1 - edge);
  }
  for (int64_t tile = kTileRows; tile < num_rows; tile += kTileRows) {
    if (static_cast<int64_t>(rows.size()) + 2 > count) break;
    rows.insert(tile - 1);
    rows.insert(tile);
  }
  return rows;
}

/// The pages that sequences use, each with those that do.
std::map<int64_t, std::vector<int64_t>> page_users(const std::vector<std::vector<Piece>>& pieces) {
  std::map<int64_t, std::vector<int64_t>> users;
  for (size_t b = 0; b < pieces.size(); ++b) {
    for (const Piece& piece : pieces[b]) {
      if (piece.kind == PlaceKind::kRows) users[piece.page].push_back(static_cast<int64_t>(b));
    }
  }
  return users;
}

/// What is left of [0, count) without `used`, which need not be in order.
std::vector<KeyRange> complement(std::vector<KeyRange> used, int64_t count) {
  std::sort(used.begin(), used.end(),
            [](const KeyRange& a, const KeyRange& b) { return a.begin < b.begin; });
  std::vector<KeyRange> rest;
  if (count == 0) return rest;
  int64_t at = 0;
  for (const KeyRange& range : used) {
    if (range.begin > at) rest.push_back({at, std::min(range.begin, count)});
    at = std::max(at, range.end);
    if (at >= count) return rest;
  }
  if (at < count) rest.push_back({at, count});
  return rest;
}

/// Keeps `limit` of `items`; how many that leaves out.
template <typename T>
int64_t cut_to(int64_t limit, std::vector<T>& items) {
  const int64_t more = std::max<int64_t>(0, static_cast<int64_t>(items.size()) - limit);
  items.resize(items.size() - static_cast<size_t>(more));
  return more;
}

void map_pages(std::vector<std::vector<Piece>>& pieces, KvMap& map) {
  const auto users = page_users(pieces);
  std::vector<KeyRange> used;
  for (const auto& [page, sequences] : users) {
    used.push_back({page, page + 1});
    if (sequences.size() == 1) continue;
    SharedPage shared{.page = page, .sequences = sequences};
    shared.sequences.erase(std::unique(shared.sequences.begin(), shared.sequences.end()),
                           shared.sequences.end());
    map.shared_pages.push_back(std::move(shared));
  }
  for (std::vector<Piece>& of_sequence : pieces) {
    for (Piece& piece : of_sequence) {
      piece.is_shared = piece.kind == PlaceKind::kRows && users.at(piece.page).size() > 1;
    }
  }
  if (map.num_blocks) map.unused = complement(std::move(used), *map.num_blocks);
}

void map_flat_rows(const DrawnCall& drawn, KvMap& map) {
  std::vector<KeyRange> used;
  for (const Sequence& s : drawn.problem.sequences) {
    if (s.seqlen_k > 0) used.push_back({s.k_start, s.k_start + s.seqlen_k});
  }
  map.unused = complement(std::move(used), map.num_rows);
}

/// The pieces cut where the mask changes from seen to not seen.
std::vector<Piece> cut_by_sight(const std::vector<Piece>& pieces, const std::vector<KeyRange>& seen,
                                const KeyPlaces& places) {
  std::vector<Piece> cut;
  for (const Piece& piece : pieces) {
    std::vector<int64_t> bounds{piece.positions.begin, piece.positions.end};
    for (const KeyRange& range : seen) {
      for (const int64_t bound : {range.begin, range.end}) {
        if (bound > piece.positions.begin && bound < piece.positions.end) bounds.push_back(bound);
      }
    }
    std::sort(bounds.begin(), bounds.end());
    for (size_t i = 0; i + 1 < bounds.size(); ++i) {
      Piece part = places.part_of(piece, {bounds[i], bounds[i + 1]});
      part.is_seen = std::any_of(seen.begin(), seen.end(), [&](const KeyRange& range) {
        return range.begin <= bounds[i] && bounds[i] < range.end;
      });
      cut.push_back(std::move(part));
    }
  }
  return cut;
}

std::optional<int64_t> storage_bytes(const Case& c, const TensorSpec& tensor) {
  return checked_mul(c.storage_elements(tensor), size_in_bytes(tensor.dtype));
}

std::optional<int64_t> kernel_stop(const Case& c, const LaunchParams* launch, const Sequence& s) {
  if (!launch || !c.function->paged || c.function->wrapper == Wrapper::kNone) return std::nullopt;
  // The paged kernel stops at the 32-key tile that max_seqlen_k ends in
  // (candle-flash-attn/kernels/flash_fwd_kernel.h:564-568).
  const int64_t stop = (int64_t{launch->seqlen_k} + 31) / 32 * 32;
  return stop < s.seqlen_k ? std::optional(stop) : std::nullopt;
}

MappedSequence map_sequence(const Case& c, const LaunchParams* launch, const DrawnCall& drawn,
                            int64_t number, const std::vector<Piece>& pieces,
                            const KeyPlaces& places, const MapLimits& limits) {
  const Sequence& s = drawn.problem.sequences[static_cast<size_t>(number)];
  MappedSequence mapped{.number = number, .seqlen_q = s.seqlen_q, .seqlen_k = s.seqlen_k};
  mapped.pieces = cut_by_sight(pieces, seen_keys(drawn.problem, number), places);
  mapped.num_more_pieces = cut_to(limits.pieces, mapped.pieces);
  if (!pieces.empty() && pieces.back().kind == PlaceKind::kRows && c.function->paged) {
    const KeyRange& last = pieces.back().positions;
    mapped.unused_rows = {last.end - last.begin, places.page_block_size()};
  }
  mapped.kernel_stops_at = kernel_stop(c, launch, s);
  // Sequences of a fixed-length batch are alike: the first one's rows speak for all.
  if (number > 0 && !c.function->varlen) return mapped;
  for (const int64_t row : telling_rows(s.seqlen_q, limits.rows)) {
    mapped.rows.push_back({row, visible_keys(drawn.problem, number, row)});
  }
  return mapped;
}

}  // namespace

KvMap make_kv_map(const Case& c, const LaunchParams* launch, const Inputs* small,
                  const MapLimits& limits) {
  DrawnCall drawn = drawn_call(c, small, limits.sequences);
  const KeyPlaces places(c, launch, small, drawn);
  KvMap map{.is_paged = c.function->paged,
            .is_varlen = c.function->varlen,
            .has_one_storage = c.k().storage == c.v().storage,
            .k_storage_bytes = storage_bytes(c, c.k()),
            .v_storage_bytes = storage_bytes(c, c.v()),
            .is_masked = drawn.problem.window_size_left || drawn.problem.window_size_right};
  if (map.is_paged) map.page_block_size = places.page_block_size();
  map.num_blocks = places.num_blocks();
  if (c.function->varlen && !map.is_paged && c.k().rank() == 3) map.num_rows = c.k().shape[0];

  std::vector<std::vector<Piece>> pieces;
  for (int64_t b = 0; b < drawn.problem.batch_size(); ++b) pieces.push_back(places.pieces_of(b));
  if (drawn.block_table) map_pages(pieces, map);
  if (map.is_varlen && !map.is_paged) map_flat_rows(drawn, map);

  const int64_t shown = std::min(drawn.problem.batch_size(), limits.sequences);
  map.num_more_sequences = drawn.num_sequences - shown;
  for (int64_t b = 0; b < shown; ++b) {
    map.sequences.push_back(
        map_sequence(c, launch, drawn, b, pieces[static_cast<size_t>(b)], places, limits));
  }
  for (SharedPage& shared : map.shared_pages) {
    shared.num_more_sequences = cut_to(limits.sequences, shared.sequences);
  }
  map.num_more_shared_pages = cut_to(limits.pieces, map.shared_pages);
  map.num_more_unused = cut_to(limits.pieces, map.unused);
  map.storages = mapped_storages(c);
  map.unknown = std::move(drawn.unknown);
  for (const std::string& sentence : places.unknown()) map.unknown.push_back(sentence);
  return map;
}

}  // namespace flashcheck
