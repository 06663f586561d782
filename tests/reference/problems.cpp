#include "tests/reference/problems.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace flashcheck::testing {
namespace {

constexpr double kTau = 6.283185307179586;

int64_t product(std::initializer_list<int64_t> factors) {
  return std::accumulate(factors.begin(), factors.end(), int64_t{1}, std::multiplies<>());
}

void fill_row(StorageBytes& storage, const AttentionProblem& problem, int64_t address, double std,
              Random& random) {
  for (int64_t c = 0; c < problem.head_dim; ++c) {
    write_element(storage, problem.dtype, address + c, std * random.normal());
  }
}

/// Strides of [batch][rows][heads][dim] with padding behind each row.
Rows packed(int64_t rows, int64_t heads, int64_t head_dim, int64_t row_padding) {
  const int64_t row_stride = heads * head_dim + row_padding;
  return {.batch_stride = rows * row_stride, .row_stride = row_stride, .head_stride = head_dim};
}

/// Gives the sequences their pages out of a pool with some spare ones; returns the pool's size.
int64_t assign_pages(const Wanted& wanted, AttentionProblem& problem, Random& random) {
  std::vector<int64_t> pages;
  for (const Sequence& s : problem.sequences) {
    problem.block_table.emplace_back(
        static_cast<size_t>((s.seqlen_k + wanted.page_block_size - 1) / wanted.page_block_size));
    pages.resize(pages.size() + problem.block_table.back().size());
  }
  pages.resize(pages.size() + 2);
  std::iota(pages.begin(), pages.end(), 0);
  for (size_t n = pages.size(); wanted.shuffles_pages && n > 1; --n) {
    std::swap(pages[n - 1], pages[random.bits() % n]);
  }
  auto next = pages.begin();
  for (auto& table : problem.block_table) {
    for (int64_t& page : table) page = *next++;
  }
  return static_cast<int64_t>(pages.size());
}

}  // namespace

double Random::normal() {
  return std::sqrt(-2 * std::log(1 - uniform())) * std::cos(kTau * uniform());
}

int64_t q_address(const AttentionProblem& problem, int64_t sequence, int64_t i, int64_t head) {
  const Rows& q = problem.q;
  const int64_t row =
      problem.is_varlen ? problem.sequences[static_cast<size_t>(sequence)].q_start + i : i;
  const int64_t batch = problem.is_varlen ? 0 : sequence;
  return q.offset + batch * q.batch_stride + row * q.row_stride + head * q.head_stride;
}

int64_t kv_address(const AttentionProblem& problem, const Rows& rows, int64_t sequence, int64_t j,
                   int64_t head_k) {
  int64_t batch = problem.is_varlen ? 0 : sequence, row = j;
  if (problem.is_paged) {
    batch = problem.block_table[static_cast<size_t>(sequence)]
                               [static_cast<size_t>(j / problem.page_block_size)];
    row = j % problem.page_block_size;
  } else if (problem.is_varlen) {
    row = problem.sequences[static_cast<size_t>(sequence)].k_start + j;
  }
  return rows.offset + batch * rows.batch_stride + row * rows.row_stride +
         head_k * rows.head_stride;
}

TestProblem make_problem(const Wanted& wanted, uint64_t seed) {
  Random random(seed);
  TestProblem test;
  AttentionProblem& p = test.problem;
  p.dtype = wanted.dtype;
  p.num_heads = wanted.num_heads;
  p.num_heads_k = wanted.num_heads_k;
  p.head_dim = wanted.head_dim;
  p.is_varlen = wanted.layout != Layout::kFixed;
  p.is_paged = wanted.layout == Layout::kPaged;
  p.page_block_size = p.is_paged ? wanted.page_block_size : 0;
  p.softmax_scale = 1 / std::sqrt(static_cast<float>(wanted.head_dim));
  int64_t total_k = 0;
  for (const auto& [seqlen_q, seqlen_k] : wanted.lengths) {
    p.sequences.push_back({p.total_q, seqlen_q, total_k, seqlen_k});
    p.total_q += seqlen_q;
    total_k += seqlen_k;
  }

  p.q = packed(wanted.lengths.front().first, p.num_heads, p.head_dim, wanted.row_padding);
  int64_t kv_rows = total_k;  // over all batch entries or pages
  int64_t rows_a_batch = wanted.lengths.front().second;
  if (p.is_paged) {
    kv_rows = assign_pages(wanted, p, random) * p.page_block_size;
    rows_a_batch = p.page_block_size;
  }
  p.k = p.v = packed(rows_a_batch, p.num_heads_k, p.head_dim, wanted.row_padding);
  if (wanted.interleaves_kv) {
    p.v.offset = p.num_heads_k * p.head_dim;
    for (Rows* rows : {&p.k, &p.v}) {
      rows->row_stride += p.num_heads_k * p.head_dim;
      rows->batch_stride = rows_a_batch * rows->row_stride;
    }
    test.storages = {0, 1, 1};
  }
  const int64_t bytes = size_in_bytes(p.dtype);
  test.inputs.storages.emplace_back(product({p.total_q, p.q.row_stride, bytes}));
  test.inputs.storages.emplace_back(product({kv_rows, p.k.row_stride, bytes}));
  test.inputs.storages.emplace_back(
      wanted.interleaves_kv ? 0 : product({kv_rows, p.v.row_stride, bytes}));

  for (int64_t b = 0; b < p.batch_size(); ++b) {
    const Sequence& s = p.sequences[static_cast<size_t>(b)];
    for (int64_t i = 0; i < s.seqlen_q; ++i) {
      for (int64_t h = 0; h < p.num_heads; ++h) {
        fill_row(test.inputs.storages[0], p, q_address(p, b, i, h), wanted.q_std, random);
      }
    }
    auto& v_storage = test.inputs.storages[static_cast<size_t>(test.storages.v)];
    for (int64_t j = 0; j < s.seqlen_k; ++j) {
      for (int64_t h = 0; h < p.num_heads_k; ++h) {
        fill_row(test.inputs.storages[1], p, kv_address(p, p.k, b, j, h), wanted.k_std, random);
        fill_row(v_storage, p, kv_address(p, p.v, b, j, h), wanted.v_std, random);
      }
    }
  }
  return test;
}

TestProblem random_problem(uint64_t seed) {
  Random random(seed ^ 0xA5A5A5A5u);
  Wanted wanted;
  constexpr Dtype kDtypes[] = {Dtype::kF16, Dtype::kBF16, Dtype::kF32};
  constexpr Layout kLayouts[] = {Layout::kFixed, Layout::kVarlen, Layout::kPaged};
  wanted.dtype = kDtypes[random.integer(0, 2)];
  wanted.layout = kLayouts[random.integer(0, 2)];
  wanted.num_heads_k = random.integer(1, 3);
  wanted.num_heads = wanted.num_heads_k * random.integer(1, 3);
  wanted.head_dim = 8 * random.integer(1, 5);
  wanted.page_block_size = random.integer(1, 2) * 8;
  wanted.interleaves_kv = random.one_in(2);
  wanted.row_padding = random.integer(0, 1) * 8;
  const int64_t longest = random.one_in(4) ? 150 : 30;
  wanted.lengths.assign(static_cast<size_t>(random.integer(1, 3)),
                        {random.integer(1, 20), random.integer(0, longest)});
  if (wanted.layout != Layout::kFixed) {
    for (auto& [seqlen_q, seqlen_k] : wanted.lengths) {
      seqlen_q = random.one_in(6) ? 0 : random.integer(1, 20);
      seqlen_k = random.integer(0, longest);
    }
  }
  wanted.q_std = random.one_in(4) ? 6 : 1;
  wanted.v_std = random.one_in(8) ? 1e-4 : 1;

  TestProblem test = make_problem(wanted, seed);
  AttentionProblem& p = test.problem;
  if (random.one_in(2)) p.window_size_left = random.integer(0, 40);
  if (random.one_in(2)) p.window_size_right = random.one_in(2) ? 0 : random.integer(0, 20);
  if (random.one_in(3)) p.softcap = static_cast<float>(random.integer(1, 50));
  if (random.one_in(3)) {
    p.alibi_is_causal_form = random.one_in(2);
    for (int64_t h = 0; h < p.num_heads; ++h) {
      p.alibi_slopes.push_back(
          std::exp2(-8.0f * static_cast<float>(h + 1) / static_cast<float>(p.num_heads)));
    }
  }
  if (random.one_in(4)) {
    for (const Sequence& s : p.sequences) {
      auto& ranges = p.mm_prefix_ranges.emplace_back();
      for (int64_t n = random.integer(0, 3); n > 0; --n) {
        const int64_t begin = random.integer(0, std::max<int64_t>(s.seqlen_k, 1));
        ranges.emplace_back(begin, begin + random.integer(1, 20));
      }
    }
  }
  return test;
}

}  // namespace flashcheck::testing
