#include "src/map/kv_map.h"

#include <doctest/doctest.h>

#include <limits>
#include <optional>

#include "src/contract/contract.h"
#include "src/inputs/inputs.h"
#include "src/map/map_text.h"
#include "tests/contract/calls.h"

namespace flashcheck {
namespace {

KvMap map_of(const Case& c, const MapLimits& limits = {}) {
  const Outcome outcome = check_contract(c);
  const Inputs small = make_inputs(c, /*with_data=*/false);
  return make_kv_map(c, outcome.launch ? &*outcome.launch : nullptr, &small, limits);
}

/// Two sequences of 70 and 75 keys over eight pages of 32.
Case long_paged_call() {
  Case c = paged_call();
  reshape(c, TensorName::kK, {8, 32, 2, 64});
  reshape(c, TensorName::kV, {8, 32, 2, 64});
  write_out(c, TensorName::kSeqlensK, {0, 70, 145});
  write_out(c, TensorName::kBlockTable, {6, 2, 4, 6, 2, 1});
  c.args.max_seqlen_k = 75;
  return c;
}

}  // namespace

TEST_CASE("positions live in the pages that the table names") {
  const KvMap map = map_of(long_paged_call());
  REQUIRE(map.sequences.size() == 2);
  const std::vector<Piece>& pieces = map.sequences[1].pieces;
  REQUIRE(pieces.size() == 3);
  CHECK(pieces[2].page == 1);
  CHECK(pieces[2].positions.begin == 64);
  CHECK(pieces[2].positions.end == 75);
  CHECK(pieces[2].k == ByteRuns{8192, 11 * 256, {}});
  CHECK(map.sequences[1].unused_rows.begin == 11);
  CHECK(map.sequences[1].unused_rows.end == 32);
  CHECK(pieces[0].is_shared);
  CHECK_FALSE(pieces[2].is_shared);
  CHECK(map.shared_pages.size() == 2);
  CHECK(map.shared_pages[1].page == 6);
  CHECK(map.shared_pages[1].sequences == std::vector<int64_t>{0, 1});
  CHECK(map.unused.size() == 4);
  CHECK(map.storages.empty());
}

TEST_CASE("a page that a row names twice is shared by one sequence") {
  Case c = long_paged_call();
  write_out(c, TensorName::kBlockTable, {6, 6, 4, 3, 2, 1});
  const KvMap map = map_of(c);
  REQUIRE(map.shared_pages.size() == 1);
  CHECK(map.shared_pages[0].sequences == std::vector<int64_t>{0});
}

TEST_CASE("a row that ends too soon, and what the kernel reads instead") {
  Case c = long_paged_call();
  reshape(c, TensorName::kBlockTable, {2, 2});
  write_out(c, TensorName::kBlockTable, {6, 2, 4, 1});
  const KvMap map = map_of(c);
  const Piece& first = map.sequences[0].pieces.back();
  CHECK(first.kind == PlaceKind::kPastTable);
  CHECK(first.positions.begin == 64);
  CHECK(first.kernel_pages == std::vector<int64_t>{4});  // the next row's
  CHECK_FALSE(first.k.has_value());
  CHECK(map.sequences[1].pieces.back().kernel_pages.empty());  // nothing of the storage is left
}

TEST_CASE("a table that is narrower than its stride is read as if it were packed") {
  Case c = long_paged_call();
  reshape(c, TensorName::kBlockTable, {2, 3});
  restride(c, TensorName::kBlockTable, {4, 1});
  const KvMap map = map_of(c);
  for (const Piece& piece : map.sequences[0].pieces) CHECK(piece.kernel_pages.empty());
  // Elements 3, 4 and 5 of the storage: the gap, and the row's own first two.
  const std::vector<Piece>& second = map.sequences[1].pieces;
  CHECK(second[0].kernel_pages.size() == 1);
  CHECK(second[1].kernel_pages == std::vector<int64_t>{6});
  CHECK(second[2].kernel_pages == std::vector<int64_t>{2});
}

TEST_CASE("pages that the pool does not have") {
  Case c = long_paged_call();
  write_out(c, TensorName::kBlockTable, {6, 8, 4, 6, 2, 4294967295});
  const KvMap map = map_of(c);
  const Piece& above = map.sequences[0].pieces[1];
  CHECK(above.kind == PlaceKind::kNoSuchPage);
  CHECK(above.k->begin_bytes == *map.k_storage_bytes);
  const Piece& negative = map.sequences[1].pieces[2];
  CHECK(negative.kind == PlaceKind::kNoSuchPage);
  CHECK(negative.kernel_pages == std::vector<int64_t>{-1});
}

TEST_CASE("the paged kernel stops at the tile that max_seqlen_k ends in") {
  Case c = long_paged_call();
  for (const auto& [max_seqlen_k, stop] :
       {std::pair<int64_t, int64_t>{31, 32}, {33, 64}, {64, 64}}) {
    c.args.max_seqlen_k = max_seqlen_k;
    CHECK(map_of(c).sequences[0].kernel_stops_at == stop);
  }
  c.args.max_seqlen_k = 65;
  CHECK_FALSE(map_of(c).sequences[0].kernel_stops_at.has_value());
}

TEST_CASE("flat rows past the end of k, and rows that no sequence has") {
  Case c = varlen_call();
  write_out(c, TensorName::kSeqlensK, {1, 4, 12});
  const KvMap map = map_of(c);
  const std::vector<Piece>& pieces = map.sequences[1].pieces;
  REQUIRE(pieces.size() == 2);
  CHECK(pieces[0].positions.end == 5);
  CHECK(pieces[0].row == 4);
  CHECK(pieces[1].kind == PlaceKind::kNoSuchRows);
  CHECK(pieces[1].row == 9);
  REQUIRE(map.unused.size() == 1);
  CHECK(map.unused[0].end == 1);
}

TEST_CASE("what is refused is drawn as far as it goes, and the rest is said") {
  Case c = long_paged_call();
  c.args.page_block_size = 64;
  REQUIRE_FALSE(check_contract(c).launch.has_value());
  const KvMap other_size = map_of(c);
  CHECK(other_size.sequences[0].pieces.size() == 3);
  CHECK(other_size.unknown.size() == 1);

  reshape(c, TensorName::kK, {256, 2, 64});
  const KvMap rank_3 = map_of(c);
  CHECK(rank_3.sequences[0].pieces.size() == 2);  // of 64, as the argument says
  CHECK_FALSE(rank_3.sequences[0].pieces[0].k.has_value());
  CHECK(rank_3.sequences[0].pieces[0].v.has_value());
  CHECK(rank_3.unknown.size() == 1);

  Case ranks = fixed_call();
  reshape(ranks, TensorName::kK, {6, 2, 64});
  CHECK(map_of(ranks).sequences.empty());
  CHECK(map_of(ranks).unknown.size() == 2);
}

TEST_CASE("a batch of k that is smaller than q's") {
  Case c = fixed_call();
  reshape(c, TensorName::kK, {1, 6, 2, 64});
  const KvMap map = map_of(c);
  CHECK(map.sequences[0].pieces[0].kind == PlaceKind::kRows);
  CHECK(map.sequences[1].pieces[0].kind == PlaceKind::kNoSuchPage);
  CHECK(map_text(map, 100).find("0..5 -> batch entry 1, but k has 1\n") != std::string::npos);
}

TEST_CASE("without values there are lengths but no pages, or nothing at all") {
  Case c = long_paged_call();
  tensor(c, TensorName::kBlockTable).values = std::make_shared<const Values>();
  CHECK(map_of(c).sequences[0].pieces[0].kind == PlaceKind::kUnknownPage);
  CHECK(map_of(c).unused.empty());
  tensor(c, TensorName::kSeqlensK).values = std::make_shared<const Values>();
  CHECK(map_of(c).sequences.empty());
  CHECK(map_of(c).unknown.size() == 2);
  CHECK(make_kv_map(long_paged_call(), nullptr, nullptr, {}).sequences.empty());
}

TEST_CASE("a table in a storage too large to be made is unknown, not read") {
  Case c = long_paged_call();
  c.storages[static_cast<size_t>(c.at(TensorName::kBlockTable).storage)].elements = 1 << 25;
  CHECK(map_of(c).sequences[0].pieces[0].kind == PlaceKind::kUnknownPage);
}

TEST_CASE("lengths that step back are drawn as empty") {
  Case c = varlen_call();
  write_out(c, TensorName::kSeqlensK, {0, 9, 4});
  const KvMap map = map_of(c);
  CHECK(map.sequences[1].seqlen_k == 0);
  CHECK(map.sequences[1].pieces.empty());
  CHECK(map.unknown.size() == 1);
}

TEST_CASE("large calls are cut to what a screen shows") {
  Case c = fixed_call(Wrapper::kCandleFlashAttn, "flash_attn_windowed");
  constexpr int64_t kMany = 1'000'000'000;
  reshape(c, TensorName::kQ, {kMany, 1000, 8, 64});
  reshape(c, TensorName::kK, {kMany, 2000, 2, 64});
  reshape(c, TensorName::kV, {kMany, 2000, 2, 64});
  c.args.window_size_right = 0;
  const KvMap map = make_kv_map(c, nullptr, nullptr, {});
  CHECK(map.sequences.size() == 16);
  CHECK(map.num_more_sequences == kMany - 16);
  std::vector<int64_t> rows;
  for (const RowView& row : map.sequences[0].rows) rows.push_back(row.row);
  CHECK(rows == std::vector<int64_t>{0, 1, 2, 63, 64, 127, 128, 191, 192, 997, 998, 999});

  Case paged = long_paged_call();
  const KvMap cut = map_of(paged, {.sequences = 1, .pieces = 2, .rows = 12});
  CHECK(cut.sequences[0].pieces.size() == 2);
  CHECK(cut.sequences[0].num_more_pieces == 1);
  CHECK(cut.num_more_sequences == 1);
  CHECK(cut.num_more_unused == 2);
  CHECK(cut.shared_pages[0].num_more_sequences == 1);
}

TEST_CASE("storages with several tensors, and views that leave theirs") {
  Case c = long_paged_call();
  c.storages[static_cast<size_t>(c.k().storage)].elements = 65536;
  restride(c, TensorName::kK, {8192, 128, 64, 1});
  TensorSpec& v = tensor(c, TensorName::kV);
  v.storage = c.k().storage;
  v.strides = c.k().strides;
  v.offset = 4096;
  c.storages[static_cast<size_t>(v.storage)].elements = 65536;
  const KvMap interleaved = map_of(c);
  REQUIRE(interleaved.storages.size() == 1);
  CHECK(interleaved.storages[0].pairs[0].sharing == Sharing::kInterleaved);
  CHECK_FALSE(interleaved.storages[0].views[1].leaves_storage);

  v.offset = 4095;
  CHECK(map_of(c).storages[0].pairs[0].sharing == Sharing::kShared);
  v.offset = 4097;
  const KvMap past = map_of(c);
  CHECK(past.storages[0].views[1].leaves_storage);
  CHECK(past.storages[0].pairs[0].sharing == Sharing::kShared);
}

TEST_CASE("numbers at the end of an int64 are drawn without overflow") {
  Case c = long_paged_call();
  constexpr int64_t kMost = std::numeric_limits<int64_t>::max();
  c.args.window_size_left = kMost;
  c.args.window_size_right = kMost;
  tensor(c, TensorName::kK).strides[0] = kMost / 8;
  const KvMap map = make_kv_map(c, nullptr, nullptr, {});
  CHECK(map.sequences.empty());
  const KvMap with_values = map_of(c);
  CHECK_FALSE(with_values.sequences[0].pieces[0].k.has_value());
  CHECK(with_values.sequences[0].pieces[0].v.has_value());
  CHECK(with_values.sequences[0].pieces[0].is_seen);
}

}  // namespace flashcheck
