#pragma once

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

namespace flashcheck {

/// Which page holds which keys of a sequence, in three forms that say the same. Lengths, slots and
/// page_block_size are in tokens.

/// A block table with lengths, as FlashAttention's wrappers take it.
struct PageTable {
  int64_t page_block_size = 1;
  std::vector<std::vector<int64_t>> rows;  // page ids of each sequence, as many as its length needs
  std::vector<int64_t> seqlens;            // keys of each sequence
};

/// FlashInfer's form: rows one after the other (flashinfer/page.py).
struct CsrPageTable {
  std::vector<int64_t> indptr;         // where each row begins in `indices`, and the end
  std::vector<int64_t> indices;        // page ids
  std::vector<int64_t> last_page_len;  // keys in each sequence's last page; 0: it has no page
};

/// SGLang's form: a slot of the token pool for each key (sglang/srt/mem_cache/memory_pool.py).
struct ReqToToken {
  std::vector<std::vector<int64_t>> rows;  // slots of each sequence; stale past its length
  std::vector<int64_t> seq_lens;           // keys of each sequence
};

/// Why a form is no page table: "indptr[2] is 3, after 5".
struct PageTableFault {
  std::string expected, got;
};
using PageTableOrFault = std::variant<PageTable, PageTableFault>;

/// Preconditions of all: page_block_size > 0; of a PageTable: as many rows as lengths, as many
/// pages in a row as its length needs.
CsrPageTable to_csr(const PageTable& table);
PageTableOrFault from_csr(const CsrPageTable& csr, int64_t page_block_size);
ReqToToken to_req_to_token(const PageTable& table);
/// A page's slots must be side by side and begin at a multiple of page_block_size.
PageTableOrFault from_req_to_token(const ReqToToken& tokens, int64_t page_block_size);

/// The rows as a matrix, row-major, shorter rows padded with 0; it has num_columns(table) columns.
std::vector<int64_t> padded_rows(const PageTable& table);
int64_t num_columns(const PageTable& table);
/// As candle takes lengths: 0, then the sum so far.
std::vector<int64_t> cumulative(const std::vector<int64_t>& seqlens);

}  // namespace flashcheck
