#include "src/contract/problem.h"

#include <algorithm>

namespace flashcheck {
namespace {

/// Integers of a small tensor by their logical position.
class Integers {
 public:
  Integers(const Case& c, const Inputs& inputs, TensorName name)
      : tensor_(c.at(name)), storage_(inputs.storages[static_cast<size_t>(tensor_.storage)]) {}

  int64_t at(std::initializer_list<int64_t> position) const {
    int64_t index = tensor_.offset;
    size_t axis = 0;
    for (const int64_t p : position) index += p * tensor_.strides[axis++];
    return read_integer(storage_, tensor_.dtype, index);
  }
  int64_t dim(size_t axis) const { return tensor_.shape[axis]; }

 private:
  const TensorSpec& tensor_;
  const StorageBytes& storage_;
};

Rows rows_of(const TensorSpec& tensor) {
  const size_t rank = tensor.strides.size();
  return {.offset = tensor.offset,
          .batch_stride = rank == 4 ? tensor.strides[0] : 0,
          .row_stride = tensor.strides[rank - 3],
          .head_stride = tensor.strides[rank - 2],
          .dim_stride = tensor.strides[rank - 1]};
}

std::vector<Sequence> equal_sequences(const Case& c) {
  // Nothing is asked of an empty q, whose batch may be of any size.
  if (c.q().num_elements() == 0) return {};
  const int64_t seqlen_q = c.q().shape[1];
  const int64_t seqlen_k = c.k().shape[1];
  std::vector<Sequence> sequences;
  for (int64_t b = 0; b < c.q().shape[0]; ++b) {
    sequences.push_back({b * seqlen_q, seqlen_q, b * seqlen_k, seqlen_k});
  }
  return sequences;
}

std::vector<Sequence> sequences_from_tables(const Case& c, const Inputs& inputs) {
  const Integers q(c, inputs, TensorName::kSeqlensQ);
  const Integers k(c, inputs, TensorName::kSeqlensK);
  std::vector<Sequence> sequences;
  for (int64_t b = 0; b + 1 < q.dim(0); ++b) {
    // A table that steps back has no rows there.
    sequences.push_back({q.at({b}), std::max<int64_t>(0, q.at({b + 1}) - q.at({b})), k.at({b}),
                         std::max<int64_t>(0, k.at({b + 1}) - k.at({b}))});
  }
  return sequences;
}

/// Table rows beyond the batch are left out; a sequence beyond the table has no pages.
std::vector<std::vector<int64_t>> block_table_of(const Case& c, const Inputs& inputs,
                                                 int64_t batch_size) {
  const Integers table(c, inputs, TensorName::kBlockTable);
  std::vector<std::vector<int64_t>> rows(static_cast<size_t>(batch_size));
  for (int64_t b = 0; b < std::min(batch_size, table.dim(0)); ++b) {
    for (int64_t page = 0; page < table.dim(1); ++page) {
      rows[static_cast<size_t>(b)].push_back(table.at({b, page}));
    }
  }
  return rows;
}

std::vector<std::vector<std::pair<int64_t, int64_t>>> prefix_ranges_of(const Case& c,
                                                                       const Inputs& inputs) {
  const Integers ranges(c, inputs, TensorName::kMmPrefixRanges);
  std::vector<std::vector<std::pair<int64_t, int64_t>>> of_sequences;
  for (int64_t b = 0; b < ranges.dim(0); ++b) {
    auto& of_sequence = of_sequences.emplace_back();
    for (int64_t r = 0; r < ranges.dim(1); ++r) {
      const int64_t begin = ranges.at({b, r, 0});
      const int64_t end = ranges.at({b, r, 1});
      if (begin < end) of_sequence.emplace_back(begin, end);
    }
  }
  return of_sequences;
}

std::vector<float> slopes_of(const Case& c, const Inputs& inputs) {
  const TensorSpec& slopes = c.at(TensorName::kAlibiSlopes);
  const StorageBytes& storage = inputs.storages[static_cast<size_t>(slopes.storage)];
  std::vector<float> values;
  for (int64_t h = 0; h < slopes.shape[0]; ++h) {
    const int64_t index = slopes.offset + h * slopes.strides[0];
    values.push_back(static_cast<float>(read_element(storage, slopes.dtype, index)));
  }
  return values;
}

void set_windows(const Case& c, AttentionProblem& problem) {
  if (c.function->windowed) {
    problem.window_size_left = c.args.window_size_left;
    problem.window_size_right = c.args.window_size_right;
  } else if (c.args.causal) {
    problem.window_size_right = 0;
  }
}

}  // namespace

std::vector<Sequence> sequences_of(const Case& c, const Inputs& inputs) {
  return c.function->varlen ? sequences_from_tables(c, inputs) : equal_sequences(c);
}

AttentionProblem declared_problem(const Case& c, const LaunchParams& launch, const Inputs& inputs) {
  AttentionProblem problem;
  const auto heads_of = [](const TensorSpec& t) { return t.shape[t.shape.size() - 2]; };
  problem.dtype = c.q().dtype;
  problem.num_heads = heads_of(c.q());
  problem.num_heads_k = heads_of(c.k());
  problem.head_dim = c.q().shape.back();
  problem.is_varlen = c.function->varlen;
  problem.is_paged = c.function->paged;
  problem.sequences = sequences_of(c, inputs);
  problem.total_q = problem.is_varlen ? c.q().shape[0] : problem.batch_size() * c.q().shape[1];
  problem.q = rows_of(c.q());
  problem.k = rows_of(c.k());
  problem.v = rows_of(c.v());
  if (problem.is_paged) {
    problem.page_block_size = c.args.page_block_size;
    problem.block_table = block_table_of(c, inputs, problem.batch_size());
  }
  problem.softmax_scale = c.args.softmax_scale;
  if (c.args.softcap && *c.args.softcap > 0) problem.softcap = c.args.softcap;
  set_windows(c, problem);
  if (c.find(TensorName::kAlibiSlopes)) problem.alibi_slopes = slopes_of(c, inputs);
  problem.alibi_is_causal_form = launch.is_causal != 0;
  if (c.find(TensorName::kMmPrefixRanges)) {
    problem.mm_prefix_ranges = prefix_ranges_of(c, inputs);
  }
  problem.arithmetic = c.arithmetic;
  return problem;
}

}  // namespace flashcheck
