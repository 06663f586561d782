#include "src/map/drawn_call.h"

#include <fmt/format.h>

#include <algorithm>

namespace flashcheck {
namespace {

std::optional<std::vector<int64_t>> values_of(const Case& c, TensorName name, const Inputs* small) {
  if (!small) return std::nullopt;
  return known_integers(c, name, *small);
}

void draw_equal_sequences(const Case& c, int64_t max_sequences, DrawnCall& drawn) {
  if (c.q().rank() != 4 || c.k().rank() != 4) {
    drawn.unknown.push_back(
        fmt::format("q has rank {} and k rank {}, a batch needs 4 and 4: no sequences to draw",
                    c.q().rank(), c.k().rank()));
    return;
  }
  const int64_t seqlen_q = c.q().shape[1], seqlen_k = c.k().shape[1];
  drawn.num_sequences = c.q().shape[0];
  for (int64_t b = 0; b < std::min(drawn.num_sequences, max_sequences); ++b) {
    drawn.problem.sequences.push_back({0, seqlen_q, 0, seqlen_k});
  }
}

void draw_varlen_sequences(const Case& c, const Inputs* small, DrawnCall& drawn) {
  const auto cu_q = values_of(c, TensorName::kSeqlensQ, small);
  const auto cu_k = values_of(c, TensorName::kSeqlensK, small);
  for (const auto& [name, values] : {std::pair{"seqlens_q", &cu_q}, {"seqlens_k", &cu_k}}) {
    if (!*values) {
      drawn.unknown.push_back(
          fmt::format("{} has no values that could be read: no sequences to draw", name));
    }
  }
  if (!cu_q || !cu_k) return;
  if (cu_q->size() != cu_k->size()) {
    drawn.unknown.push_back(fmt::format(
        "seqlens_q has {} entries and seqlens_k {}: only the sequences of both are drawn",
        cu_q->size(), cu_k->size()));
  }
  const auto length = [](const std::vector<int64_t>& cu, size_t b) {
    return std::max<int64_t>(0, cu[b + 1] - cu[b]);
  };
  for (size_t b = 0; b + 1 < std::min(cu_q->size(), cu_k->size()); ++b) {
    if ((*cu_q)[b + 1] < (*cu_q)[b] || (*cu_k)[b + 1] < (*cu_k)[b]) {
      drawn.unknown.push_back(fmt::format("sequence {}: the lengths step back, drawn as 0", b));
    }
    drawn.problem.sequences.push_back({(*cu_q)[b], length(*cu_q, b), (*cu_k)[b], length(*cu_k, b)});
  }
  drawn.num_sequences = drawn.problem.batch_size();
}

void draw_table(const Case& c, const Inputs* small, DrawnCall& drawn) {
  const TensorSpec* table = c.find(TensorName::kBlockTable);
  if (!table) return;
  const auto values = values_of(c, TensorName::kBlockTable, small);
  if (!values || table->rank() != 2) {
    drawn.unknown.push_back(
        values ? fmt::format("block_table has rank {}, not 2: no pages to draw", table->rank())
               : "block_table has no values that could be read: no pages to draw");
    return;
  }
  auto& rows = drawn.block_table.emplace();
  for (int64_t b = 0; b < std::min(table->shape[0], drawn.num_sequences); ++b) {
    const auto begin = values->begin() + b * table->shape[1];
    rows.emplace_back(begin, begin + table->shape[1]);
  }
}

void draw_mask(const Case& c, const Inputs* small, DrawnCall& drawn) {
  AttentionProblem& problem = drawn.problem;
  if (c.function->windowed) {
    problem.window_size_left = c.args.window_size_left;
    problem.window_size_right = c.args.window_size_right;
  } else if (c.args.causal) {
    problem.window_size_right = 0;
  }
  const TensorSpec* ranges = c.find(TensorName::kMmPrefixRanges);
  if (!ranges) return;
  const auto values = values_of(c, TensorName::kMmPrefixRanges, small);
  if (!values || ranges->rank() != 3 || ranges->shape[2] != 2 ||
      ranges->shape[0] != drawn.num_sequences) {
    drawn.unknown.emplace_back("mm_prefix_ranges cannot be read: keys that they show are missing");
    return;
  }
  for (int64_t b = 0; b < ranges->shape[0]; ++b) {
    auto& of_sequence = problem.mm_prefix_ranges.emplace_back();
    for (int64_t r = 0; r < ranges->shape[1]; ++r) {
      const size_t at = static_cast<size_t>((b * ranges->shape[1] + r) * 2);
      if ((*values)[at] < (*values)[at + 1]) {
        of_sequence.emplace_back((*values)[at], (*values)[at + 1]);
      }
    }
  }
}

}  // namespace

DrawnCall drawn_call(const Case& c, const Inputs* small, int64_t max_equal_sequences) {
  DrawnCall drawn;
  drawn.problem.is_varlen = c.function->varlen;
  drawn.problem.is_paged = c.function->paged;
  if (c.function->varlen) {
    draw_varlen_sequences(c, small, drawn);
  } else {
    draw_equal_sequences(c, max_equal_sequences, drawn);
  }
  if (c.function->paged) draw_table(c, small, drawn);
  draw_mask(c, small, drawn);
  return drawn;
}

std::vector<KeyRange> seen_keys(const AttentionProblem& problem, int64_t sequence) {
  const Sequence& s = problem.sequences[static_cast<size_t>(sequence)];
  if (s.seqlen_q == 0) return {};
  // Neighbouring rows see neighbouring keys: the first row looks back furthest, and the last one is
  // at the last key.
  const int64_t first = s.seqlen_k - s.seqlen_q, last = s.seqlen_k - 1;
  const std::optional<int64_t>& left = problem.window_size_left;
  std::vector<KeyRange> ranges{{left && *left < first ? first - *left : 0, s.seqlen_k}};
  if (!problem.mm_prefix_ranges.empty()) {
    for (const auto& [begin, end] : problem.mm_prefix_ranges[static_cast<size_t>(sequence)]) {
      if (begin <= last && end > first)
        ranges.push_back({std::max<int64_t>(0, begin), std::min(s.seqlen_k, end)});
    }
  }
  std::erase_if(ranges, [](const KeyRange& range) { return range.begin >= range.end; });
  std::sort(ranges.begin(), ranges.end(),
            [](const KeyRange& a, const KeyRange& b) { return a.begin < b.begin; });
  std::vector<KeyRange> apart;
  for (const KeyRange& range : ranges) {
    if (apart.empty() || range.begin > apart.back().end) {
      apart.push_back(range);
    } else {
      apart.back().end = std::max(apart.back().end, range.end);
    }
  }
  return apart;
}

}  // namespace flashcheck
