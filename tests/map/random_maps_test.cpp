// Holds maps of random small calls against a walk over every visible key, with the plain formula of
// an address and AttentionProblem::is_visible.

#include <doctest/doctest.h>

#include <algorithm>
#include <numeric>
#include <random>
#include <utility>

#include "src/inputs/inputs.h"
#include "src/map/kv_map.h"
#include "tests/contract/calls.h"
#include "tests/map/bytes_of.h"

namespace flashcheck {
namespace {

class RandomCall {
 public:
  explicit RandomCall(uint32_t seed) : random_(seed) {
    const int64_t kind = below(3);
    c_ = kind == 0   ? fixed_call(Wrapper::kCandleFlashAttn, "flash_attn_windowed")
         : kind == 1 ? varlen_call(Wrapper::kCandleFlashAttn, "flash_attn_varlen_windowed")
                     : paged_call();
    if (below(3) > 0) c_.args.window_size_left = problem.window_size_left = below(12);
    if (below(3) > 0) c_.args.window_size_right = problem.window_size_right = below(12);
    const int64_t heads = 1 + below(3), dim = 1 + below(4);
    const int64_t batch = 1 + below(3);
    if (kind == 0) {
      fixed(batch, heads, dim);
    } else {
      varlen(batch, heads, dim, kind == 2);
    }
    tensor(c_, TensorName::kV).dtype = tensor(c_, TensorName::kK).dtype =
        below(2) ? Dtype::kF16 : Dtype::kF32;
  }

  const Case& call() const { return c_; }
  AttentionProblem problem;  // sequences, windows and ranges
  /// (page or batch entry, row) of key j of a sequence.
  std::pair<int64_t, int64_t> place(int64_t b, int64_t j) const {
    if (!c_.function->varlen) return {b, j};
    const Sequence& s = problem.sequences[static_cast<size_t>(b)];
    if (!c_.function->paged) return {0, s.k_start + j};
    return {table_[static_cast<size_t>(b * columns_ + j / page_)], j % page_};
  }

 private:
  int64_t below(int64_t bound) {
    return static_cast<int64_t>(random_() % static_cast<uint64_t>(bound));
  }

  /// Strides of some order of the axes, with gaps, and an offset.
  void scatter(TensorName name, std::vector<int64_t> shape) {
    reshape(c_, name, shape);
    std::vector<size_t> order(shape.size());
    std::iota(order.begin(), order.end(), 0u);
    std::shuffle(order.begin(), order.end(), random_);
    std::vector<int64_t> strides(shape.size());
    int64_t extent = 1;
    for (const size_t axis : order) {
      strides[axis] = extent + below(3);
      extent = strides[axis] * std::max<int64_t>(shape[axis], 1);
    }
    tensor(c_, name).offset = below(20);
    restride(c_, name, strides);
  }

  void fixed(int64_t batch, int64_t heads, int64_t dim) {
    const int64_t seqlen_q = below(8), seqlen_k = below(20);
    reshape(c_, TensorName::kQ, {batch, seqlen_q, heads, dim});
    scatter(TensorName::kK, {batch, seqlen_k, heads, dim});
    scatter(TensorName::kV, {batch, seqlen_k, heads, dim});
    for (int64_t b = 0; b < batch; ++b) problem.sequences.push_back({0, seqlen_q, 0, seqlen_k});
  }

  void varlen(int64_t batch, int64_t heads, int64_t dim, bool is_paged) {
    std::vector<int64_t> cu_q{0}, cu_k{is_paged ? 0 : below(3)};
    page_ = 1 + below(6);
    for (int64_t b = 0; b < batch; ++b) {
      const int64_t seqlen_q = below(8), seqlen_k = below(20);
      problem.sequences.push_back({cu_q.back(), seqlen_q, cu_k.back(), seqlen_k});
      cu_q.push_back(cu_q.back() + seqlen_q);
      cu_k.push_back(cu_k.back() + seqlen_k);
      columns_ = std::max(columns_, (seqlen_k + page_ - 1) / page_);
    }
    reshape(c_, TensorName::kQ, {cu_q.back(), heads, dim});
    for (const auto& [name, values] :
         {std::pair{TensorName::kSeqlensQ, cu_q}, {TensorName::kSeqlensK, cu_k}}) {
      reshape(c_, name, {batch + 1});
      write_out(c_, name, values);
    }
    std::vector<int64_t> shape{cu_k.back() + below(3), heads, dim};
    if (is_paged) {
      const int64_t num_blocks = 2 + below(6);
      shape = {num_blocks, page_, heads, dim};
      c_.args.page_block_size = page_;
      for (int64_t n = 0; n < batch * columns_; ++n) table_.push_back(below(num_blocks));
      reshape(c_, TensorName::kBlockTable, {batch, columns_});
      write_out(c_, TensorName::kBlockTable, table_);
    }
    scatter(TensorName::kK, shape);
    scatter(TensorName::kV, shape);
    if (is_paged && below(2)) prefix_ranges(batch);
  }

  void prefix_ranges(int64_t batch) {
    put(c_, TensorName::kMmPrefixRanges, Dtype::kI32, {batch, 2, 2});
    std::vector<int64_t> values;
    for (int64_t b = 0; b < batch; ++b) {
      auto& ranges = problem.mm_prefix_ranges.emplace_back();
      for (int r = 0; r < 2; ++r) {
        const int64_t begin = below(20), end = begin + below(10) - 2;
        values.push_back(begin);
        values.push_back(end);
        ranges.emplace_back(begin, end);
      }
    }
    write_out(c_, TensorName::kMmPrefixRanges, values);
  }

  std::mt19937 random_;
  Case c_;
  int64_t page_ = 0, columns_ = 0;
  std::vector<int64_t> table_;
};

/// The bytes of one key of k or v.
void walk_key(const TensorSpec& tensor, int64_t outer, int64_t row, std::set<int64_t>& bytes) {
  const size_t rank = tensor.shape.size();
  const int64_t size = size_in_bytes(tensor.dtype);
  for (int64_t head = 0; head < tensor.shape[rank - 2]; ++head) {
    for (int64_t c = 0; c < tensor.shape[rank - 1]; ++c) {
      const int64_t element = tensor.offset + (rank == 4 ? outer * tensor.strides[0] : 0) +
                              row * tensor.strides[rank - 3] + head * tensor.strides[rank - 2] +
                              c * tensor.strides[rank - 1];
      for (int64_t byte = 0; byte < size; ++byte) bytes.insert(element * size + byte);
    }
  }
}

struct Bytes {
  std::set<int64_t> k, v;
  bool operator==(const Bytes&) const = default;
};

Bytes walked(const RandomCall& random, int64_t b) {
  Bytes bytes;
  const Sequence& s = random.problem.sequences[static_cast<size_t>(b)];
  for (int64_t j = 0; j < s.seqlen_k; ++j) {
    bool is_seen = false;
    for (int64_t i = 0; i < s.seqlen_q; ++i) is_seen |= random.problem.is_visible(b, i, j);
    if (!is_seen) continue;
    const auto [outer, row] = random.place(b, j);
    walk_key(random.call().k(), outer, row, bytes.k);
    walk_key(random.call().v(), outer, row, bytes.v);
  }
  return bytes;
}

Bytes mapped(const MappedSequence& sequence) {
  Bytes bytes;
  for (const Piece& piece : sequence.pieces) {
    if (!piece.is_seen) continue;
    REQUIRE((piece.k && piece.v));
    bytes.k.merge(bytes_of(*piece.k));
    bytes.v.merge(bytes_of(*piece.v));
  }
  return bytes;
}

bool is_in(const std::vector<KeyRange>& ranges, int64_t key) {
  return std::any_of(ranges.begin(), ranges.end(),
                     [&](const KeyRange& range) { return range.begin <= key && key < range.end; });
}

}  // namespace

TEST_CASE("a map's bytes are exactly those that a walk over the visible keys touches") {
  int num_seen = 0, num_unseen = 0, num_cut = 0;
  for (uint32_t seed = 0; seed < 1500; ++seed) {
    CAPTURE(seed);
    const RandomCall random(seed);
    const Inputs small = make_inputs(random.call(), /*with_data=*/false);
    const KvMap map = make_kv_map(random.call(), nullptr, &small, kNoMapLimits);
    REQUIRE(map.unknown.empty());
    REQUIRE(map.sequences.size() == random.problem.sequences.size());
    for (const MappedSequence& sequence : map.sequences) {
      REQUIRE(mapped(sequence) == walked(random, sequence.number));
      int64_t position = 0;
      for (const Piece& piece : sequence.pieces) {
        REQUIRE(piece.kind == PlaceKind::kRows);
        REQUIRE(piece.positions.begin == position);
        REQUIRE(piece.positions.end > position);
        position = piece.positions.end;
        num_seen += piece.is_seen;
        num_unseen += !piece.is_seen;
        num_cut += piece.page != 0 && piece.row != 0;
      }
      REQUIRE(position == sequence.seqlen_k);
    }
  }
  CHECK(num_seen > 1000);
  CHECK(num_unseen > 300);
  CHECK(num_cut > 50);
}

TEST_CASE("a map's rows see what the mask lets them see") {
  for (uint32_t seed = 0; seed < 500; ++seed) {
    CAPTURE(seed);
    const RandomCall random(seed);
    const Inputs small = make_inputs(random.call(), /*with_data=*/false);
    const KvMap map = make_kv_map(random.call(), nullptr, &small, kNoMapLimits);
    for (const MappedSequence& sequence : map.sequences) {
      if (!map.is_varlen && sequence.number > 0) continue;
      REQUIRE(static_cast<int64_t>(sequence.rows.size()) == sequence.seqlen_q);
      for (const RowView& row : sequence.rows) {
        for (int64_t key = 0; key < sequence.seqlen_k; ++key) {
          REQUIRE(is_in(row.keys, key) == random.problem.is_visible(sequence.number, row.row, key));
        }
      }
    }
  }
}

TEST_CASE("pages and flat rows that no sequence has are all the others") {
  for (uint32_t seed = 0; seed < 500; ++seed) {
    CAPTURE(seed);
    const RandomCall random(seed);
    if (!random.call().function->varlen) continue;
    const Inputs small = make_inputs(random.call(), /*with_data=*/false);
    const KvMap map = make_kv_map(random.call(), nullptr, &small, kNoMapLimits);
    std::vector<int64_t> users(static_cast<size_t>(random.call().k().shape[0]));
    for (int64_t b = 0; b < random.problem.batch_size(); ++b) {
      const int64_t keys = random.problem.sequences[static_cast<size_t>(b)].seqlen_k;
      const int64_t step = map.is_paged ? map.page_block_size : 1;
      for (int64_t j = 0; j < keys; j += step) {
        const auto [outer, row] = random.place(b, j);
        ++users[static_cast<size_t>(map.is_paged ? outer : row)];
      }
    }
    for (size_t n = 0; n < users.size(); ++n) {
      REQUIRE(is_in(map.unused, static_cast<int64_t>(n)) == (users[n] == 0));
      const bool is_shared =
          std::any_of(map.shared_pages.begin(), map.shared_pages.end(),
                      [&](const SharedPage& page) { return page.page == static_cast<int64_t>(n); });
      REQUIRE(is_shared == (users[n] > 1));
    }
  }
}

}  // namespace flashcheck
