#include "src/layouts/page_tables.h"

#include <doctest/doctest.h>

#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "src/spec/random_bits.h"

namespace flashcheck {
namespace {

std::string fault_of(const PageTableOrFault& result) {
  const auto* fault = std::get_if<PageTableFault>(&result);
  return fault ? "expected " + fault->expected + ", got " + fault->got : "none";
}

void check_equal(const PageTableOrFault& result, const PageTable& table) {
  CHECK(fault_of(result) == "none");
  const auto* back = std::get_if<PageTable>(&result);
  if (!back) return;
  CHECK(back->page_block_size == table.page_block_size);
  CHECK(back->rows == table.rows);
  CHECK(back->seqlens == table.seqlens);
}

/// Sequences of every kind: empty, of whole pages, with a last page of any fill.
PageTable random_table(uint64_t seed) {
  uint64_t n = 0;
  const auto below = [&](int64_t bound) {
    return static_cast<int64_t>(random_bits(seed, n++) % static_cast<uint64_t>(bound));
  };
  PageTable table{.page_block_size = 1 + below(6)};
  const int64_t batch_size = below(5);
  for (int64_t i = 0; i < batch_size; ++i) {
    table.seqlens.push_back(below(4) == 0 ? below(4) * table.page_block_size : below(20));
    std::vector<int64_t>& row = table.rows.emplace_back();
    const int64_t pages =
        (table.seqlens.back() + table.page_block_size - 1) / table.page_block_size;
    for (int64_t page = 0; page < pages; ++page) row.push_back(below(50));
  }
  return table;
}

TEST_CASE("a page table comes back from CSR and from slots as it was") {
  int empty = 0, whole = 0, partial = 0;
  for (uint64_t seed = 0; seed < 2000; ++seed) {
    CAPTURE(seed);
    const PageTable table = random_table(seed);
    check_equal(from_csr(to_csr(table), table.page_block_size), table);
    check_equal(from_req_to_token(to_req_to_token(table), table.page_block_size), table);
    for (const int64_t length : table.seqlens) {
      empty += length == 0;
      whole += length > 0 && length % table.page_block_size == 0;
      partial += length % table.page_block_size != 0;
    }
  }
  CHECK(empty > 100);
  CHECK(whole > 100);
  CHECK(partial > 100);
}

TEST_CASE("slots found by a table of pages of 1 are the slots of the table of larger pages") {
  for (uint64_t seed = 0; seed < 500; ++seed) {
    CAPTURE(seed);
    const PageTable table = random_table(seed);
    const ReqToToken tokens = to_req_to_token(table);
    const PageTableOrFault fine = from_req_to_token(tokens, 1);
    REQUIRE(std::holds_alternative<PageTable>(fine));
    for (size_t i = 0; i < table.rows.size(); ++i) {
      CHECK(std::get<PageTable>(fine).rows[i] == tokens.rows[i]);
      for (int64_t token = 0; token < table.seqlens[i]; ++token) {
        const int64_t slot = tokens.rows[i][static_cast<size_t>(token)];
        CHECK(slot / table.page_block_size ==
              table.rows[i][static_cast<size_t>(token / table.page_block_size)]);
        CHECK(slot % table.page_block_size == token % table.page_block_size);
      }
    }
  }
}

TEST_CASE("one slot out of place is no page, and is named") {
  int moved = 0;
  for (uint64_t seed = 0; seed < 500; ++seed) {
    const PageTable table = random_table(seed);
    if (table.page_block_size == 1) continue;
    for (size_t i = 0; i < table.rows.size(); ++i) {
      for (int64_t token = 0; token < table.seqlens[i]; ++token) {
        CAPTURE(seed);
        ReqToToken tokens = to_req_to_token(table);
        tokens.rows[i][static_cast<size_t>(token)] += 1;
        const std::string fault = fault_of(from_req_to_token(tokens, table.page_block_size));
        const bool names_it = fault.find(" at token " + std::to_string(token) + " of sequence " +
                                         std::to_string(i)) != std::string::npos;
        CHECK(names_it);
        ++moved;
      }
    }
  }
  CHECK(moved > 1000);
}

TEST_CASE("stale slots past the length are not read") {
  const PageTableOrFault result = from_req_to_token({{{8, 9, 10, 77, -1}, {-1}}, {3, 0}}, 4);
  REQUIRE(std::holds_alternative<PageTable>(result));
  CHECK(std::get<PageTable>(result).rows == std::vector<std::vector<int64_t>>{{2}, {}});
}

TEST_CASE("an example of each form") {
  const PageTable table{32, {{10, 5}, {}, {9, 1, 3}}, {41, 0, 96}};
  const CsrPageTable csr = to_csr(table);
  CHECK(csr.indptr == std::vector<int64_t>{0, 2, 2, 5});
  CHECK(csr.indices == std::vector<int64_t>{10, 5, 9, 1, 3});
  CHECK(csr.last_page_len == std::vector<int64_t>{9, 0, 32});
  CHECK(num_columns(table) == 3);
  CHECK(padded_rows(table) == std::vector<int64_t>{10, 5, 0, 0, 0, 0, 9, 1, 3});
  CHECK(cumulative(table.seqlens) == std::vector<int64_t>{0, 41, 41, 137});
  CHECK(to_req_to_token({2, {{3, 1}}, {3}}).rows == std::vector<std::vector<int64_t>>{{6, 7, 2}});
}

TEST_CASE("what is no CSR form is told with its numbers") {
  const std::vector<std::pair<CsrPageTable, const char*>> rows = {
      {{{}, {}, {}}, "expected indptr to begin with 0, got an empty one"},
      {{{1, 2}, {4, 5}, {1}}, "expected indptr to begin with 0, got 1"},
      {{{0, 2, 1}, {4}, {1, 1}}, "expected indptr not to decrease, got indptr[2] = 1 after 2"},
      {{{0, 2}, {4}, {1}}, "expected 2 indices, as indptr ends, got 1"},
      {{{0, 1}, {4}, {1, 1}},
       "expected 1 entries of last_page_len, one fewer than of indptr, got 2"},
      {{{0, 1}, {-4}, {1}}, "expected indices of pages, 0 or more, got indices[0] = -4"},
      {{{0, 1}, {4}, {0}},
       "expected last_page_len from 1 to 32, the page's size, got last_page_len[0] = 0"},
      {{{0, 1, 2}, {4, 5}, {32, 33}},
       "expected last_page_len from 1 to 32, the page's size, got last_page_len[1] = 33"},
      {{{0, 0}, {}, {1}},
       "expected last_page_len 0 of a sequence without pages, got last_page_len[0] = 1"},
  };
  for (const auto& row : rows) CHECK(fault_of(from_csr(row.first, 32)) == row.second);
  CHECK(fault_of(from_csr({{0, 3}, {1, 2, 3}, {1}}, int64_t{1} << 62)) ==
        "expected sequences of at most 2147483647 tokens, got 3 pages of 4611686018427387904 in "
        "sequence 0");
}

TEST_CASE("what is no table of slots is told with its numbers") {
  CHECK(fault_of(from_req_to_token({{{0, 1, 2, 4}}, {4}}, 4)) ==
        "expected consecutive slots in a page of 4, got slot 4 after 2 at token 3 of sequence 0");
  CHECK(fault_of(from_req_to_token({{{0, 1, 2, 3}, {6, 7}}, {4, 2}}, 4)) ==
        "expected pages of 4 slots that begin at a multiple of it, got slot 6 at token 0 of "
        "sequence 1");
  CHECK(fault_of(from_req_to_token({{{-1}}, {1}}, 1)) ==
        "expected pages of 1 slots that begin at a multiple of it, got slot -1 at token 0 of "
        "sequence 0");
  CHECK(fault_of(from_req_to_token({{{1, 2}}, {3}}, 1)) ==
        "expected seq_lens[0] from 0 to 2, the slots of its row, got 3");
  CHECK(fault_of(from_req_to_token({{{1, 2}}, {1, 1}}, 1)) ==
        "expected 1 entries of seq_lens, one a row, got 2");
}

}  // namespace
}  // namespace flashcheck
