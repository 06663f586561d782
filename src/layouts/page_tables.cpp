#include "src/layouts/page_tables.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <optional>

#include "src/spec/checked.h"

namespace flashcheck {
namespace {

// Engines hold lengths in an int32; so sums of them fit an int64.
constexpr int64_t kMaxSeqlen = std::numeric_limits<int32_t>::max();

int64_t size_of(const std::vector<int64_t>& values) { return static_cast<int64_t>(values.size()); }

/// The first thing in the CSR form that contradicts its other parts.
std::optional<PageTableFault> find_fault(const CsrPageTable& csr, int64_t page_block_size) {
  if (csr.indptr.empty() || csr.indptr.front() != 0) {
    return PageTableFault{"indptr to begin with 0", csr.indptr.empty()
                                                        ? "an empty one"
                                                        : fmt::format("{}", csr.indptr.front())};
  }
  for (size_t i = 1; i < csr.indptr.size(); ++i) {
    if (csr.indptr[i] >= csr.indptr[i - 1]) continue;
    return PageTableFault{"indptr not to decrease", fmt::format("indptr[{}] = {} after {}", i,
                                                                csr.indptr[i], csr.indptr[i - 1])};
  }
  if (csr.indptr.back() != size_of(csr.indices)) {
    return PageTableFault{fmt::format("{} indices, as indptr ends", csr.indptr.back()),
                          fmt::format("{}", csr.indices.size())};
  }
  if (csr.last_page_len.size() + 1 != csr.indptr.size()) {
    return PageTableFault{
        fmt::format("{} entries of last_page_len, one fewer than of indptr", csr.indptr.size() - 1),
        fmt::format("{}", csr.last_page_len.size())};
  }
  if (const auto id = std::ranges::find_if(csr.indices, [](int64_t page) { return page < 0; });
      id != csr.indices.end()) {
    return PageTableFault{"indices of pages, 0 or more",
                          fmt::format("indices[{}] = {}", id - csr.indices.begin(), *id)};
  }
  for (size_t i = 0; i < csr.last_page_len.size(); ++i) {
    const bool has_pages = csr.indptr[i + 1] > csr.indptr[i];
    const int64_t length = csr.last_page_len[i];
    if (has_pages ? length >= 1 && length <= page_block_size : length == 0) continue;
    return PageTableFault{
        has_pages ? fmt::format("last_page_len from 1 to {}, the page's size", page_block_size)
                  : "last_page_len 0 of a sequence without pages",
        fmt::format("last_page_len[{}] = {}", i, length)};
  }
  return std::nullopt;
}

}  // namespace

CsrPageTable to_csr(const PageTable& table) {
  CsrPageTable csr{.indptr = {0}};
  for (size_t i = 0; i < table.rows.size(); ++i) {
    csr.indices.insert(csr.indices.end(), table.rows[i].begin(), table.rows[i].end());
    csr.indptr.push_back(size_of(csr.indices));
    csr.last_page_len.push_back(
        table.seqlens[i] == 0 ? 0 : (table.seqlens[i] - 1) % table.page_block_size + 1);
  }
  return csr;
}

PageTableOrFault from_csr(const CsrPageTable& csr, int64_t page_block_size) {
  if (std::optional<PageTableFault> fault = find_fault(csr, page_block_size)) return *fault;
  PageTable table{.page_block_size = page_block_size};
  for (size_t i = 0; i < csr.last_page_len.size(); ++i) {
    const auto begin = csr.indices.begin();
    table.rows.emplace_back(begin + csr.indptr[i], begin + csr.indptr[i + 1]);
    const int64_t full_pages = std::max<int64_t>(0, size_of(table.rows.back()) - 1);
    const std::optional<int64_t> tokens = checked_mul(full_pages, page_block_size);
    if (!tokens || *tokens > kMaxSeqlen - csr.last_page_len[i]) {
      return PageTableFault{fmt::format("sequences of at most {} tokens", kMaxSeqlen),
                            fmt::format("{} pages of {} in sequence {}", table.rows.back().size(),
                                        page_block_size, i)};
    }
    table.seqlens.push_back(*tokens + csr.last_page_len[i]);
  }
  return table;
}

ReqToToken to_req_to_token(const PageTable& table) {
  ReqToToken tokens{.seq_lens = table.seqlens};
  for (size_t i = 0; i < table.rows.size(); ++i) {
    std::vector<int64_t>& slots = tokens.rows.emplace_back();
    for (int64_t token = 0; token < table.seqlens[i]; ++token) {
      const int64_t page = table.rows[i][static_cast<size_t>(token / table.page_block_size)];
      slots.push_back(page * table.page_block_size + token % table.page_block_size);
    }
  }
  return tokens;
}

PageTableOrFault from_req_to_token(const ReqToToken& tokens, int64_t page_block_size) {
  if (tokens.rows.size() != tokens.seq_lens.size()) {
    return PageTableFault{fmt::format("{} entries of seq_lens, one a row", tokens.rows.size()),
                          fmt::format("{}", tokens.seq_lens.size())};
  }
  PageTable table{.page_block_size = page_block_size, .seqlens = tokens.seq_lens};
  for (size_t i = 0; i < tokens.rows.size(); ++i) {
    const std::vector<int64_t>& slots = tokens.rows[i];
    if (tokens.seq_lens[i] < 0 || tokens.seq_lens[i] > size_of(slots)) {
      return PageTableFault{
          fmt::format("seq_lens[{}] from 0 to {}, the slots of its row", i, slots.size()),
          fmt::format("{}", tokens.seq_lens[i])};
    }
    std::vector<int64_t>& row = table.rows.emplace_back();
    for (int64_t token = 0; token < tokens.seq_lens[i]; ++token) {
      const int64_t slot = slots[static_cast<size_t>(token)];
      const int64_t place = token % page_block_size;
      if (place == 0) {
        if (slot < 0 || slot % page_block_size != 0) {
          return PageTableFault{
              fmt::format("pages of {} slots that begin at a multiple of it", page_block_size),
              fmt::format("slot {} at token {} of sequence {}", slot, token, i)};
        }
        row.push_back(slot / page_block_size);
      } else if (const int64_t before = slots[static_cast<size_t>(token) - 1]; slot != before + 1) {
        return PageTableFault{
            fmt::format("consecutive slots in a page of {}", page_block_size),
            fmt::format("slot {} after {} at token {} of sequence {}", slot, before, token, i)};
      }
    }
  }
  return table;
}

std::vector<int64_t> padded_rows(const PageTable& table) {
  std::vector<int64_t> matrix;
  const auto columns = static_cast<size_t>(num_columns(table));
  for (const std::vector<int64_t>& row : table.rows) {
    matrix.insert(matrix.end(), row.begin(), row.end());
    matrix.resize(matrix.size() + columns - row.size(), 0);
  }
  return matrix;
}

int64_t num_columns(const PageTable& table) {
  int64_t columns = 0;
  for (const std::vector<int64_t>& row : table.rows) columns = std::max(columns, size_of(row));
  return columns;
}

std::vector<int64_t> cumulative(const std::vector<int64_t>& seqlens) {
  std::vector<int64_t> sums{0};
  for (const int64_t length : seqlens) sums.push_back(sums.back() + length);
  return sums;
}

}  // namespace flashcheck
