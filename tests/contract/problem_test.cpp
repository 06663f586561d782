#include "src/contract/problem.h"

#include <doctest/doctest.h>

#include <limits>

#include "src/contract/contract.h"
#include "tests/contract/calls.h"

namespace flashcheck {
namespace {

Inputs empty_inputs(const Case& c) {
  Inputs inputs;
  for (size_t i = 0; i < c.storages.size(); ++i) {
    int64_t bytes = 1;
    for (const auto& spec : c.tensors) {
      if (!spec || spec->storage != static_cast<int64_t>(i)) continue;
      bytes = c.storages[i].elements * size_in_bytes(spec->dtype);
    }
    inputs.storages.emplace_back(bytes);
  }
  return inputs;
}

void store(Inputs& inputs, const Case& c, TensorName name, int64_t index, double value) {
  const TensorSpec& spec = c.at(name);
  write_element(inputs.storages[static_cast<size_t>(spec.storage)], spec.dtype, index, value);
}

/// Writes values at a tensor's storage, element by element from 0.
void fill(Inputs& inputs, const Case& c, TensorName name, const std::vector<double>& values) {
  for (size_t i = 0; i < values.size(); ++i) {
    store(inputs, c, name, static_cast<int64_t>(i), values[i]);
  }
}

AttentionProblem problem_of(const Case& c, const Inputs& inputs) {
  const Outcome outcome = check_contract(c);
  REQUIRE(outcome.launch.has_value());
  return declared_problem(c, *outcome.launch, inputs);
}

}  // namespace

TEST_CASE("a fixed-length call is sequences of one length") {
  Case c = fixed_call();
  c.args.causal = true;
  tensor(c, TensorName::kK).strides = {(int64_t{1} << 32), 128, 64, 1};
  const AttentionProblem problem = problem_of(c, empty_inputs(c));
  REQUIRE(problem.sequences.size() == 2);
  CHECK(problem.sequences[1].q_start == 4);
  CHECK(problem.sequences[1].k_start == 6);
  CHECK(problem.sequences[1].seqlen_q == 4);
  CHECK(problem.sequences[1].seqlen_k == 6);
  CHECK(problem.total_q == 8);
  CHECK(problem.num_heads == 8);
  CHECK(problem.num_heads_k == 2);
  CHECK(problem.head_dim == 64);
  CHECK(problem.k.batch_stride == int64_t{1} << 32);  // as declared, not as launched
  CHECK(problem.k.row_stride == 128);
  CHECK(problem.window_size_right == 0);
  CHECK_FALSE(problem.window_size_left.has_value());
  CHECK(problem.alibi_is_causal_form);
  CHECK_FALSE(problem.is_varlen);
}

TEST_CASE("an empty q asks nothing, however large its batch") {
  Case c = fixed_call();
  reshape(c, TensorName::kQ, {int64_t{1} << 40, 1, 0, 64});
  reshape(c, TensorName::kK, {int64_t{1} << 40, 1, 2, 64});
  reshape(c, TensorName::kV, {int64_t{1} << 40, 1, 2, 64});
  const Inputs none;
  const AttentionProblem problem = problem_of(c, none);
  CHECK(problem.sequences.empty());
  CHECK(problem.total_q == 0);
}

TEST_CASE("a varlen call takes its sequences from the tables") {
  Case c = varlen_call();
  tensor(c, TensorName::kQ).offset = 0;
  Inputs inputs = empty_inputs(c);
  fill(inputs, c, TensorName::kSeqlensQ, {0, 3, 7});
  fill(inputs, c, TensorName::kSeqlensK, {0, 4, 2});
  const AttentionProblem problem = problem_of(c, inputs);
  REQUIRE(problem.sequences.size() == 2);
  CHECK(problem.sequences[0].seqlen_q == 3);
  CHECK(problem.sequences[1].q_start == 3);
  CHECK(problem.sequences[1].seqlen_q == 4);
  CHECK(problem.sequences[1].k_start == 4);
  CHECK(problem.sequences[1].seqlen_k == 0);  // a table that steps back
  CHECK(problem.total_q == 7);
  CHECK(problem.q.batch_stride == 0);
  CHECK(problem.q.row_stride == 512);
  CHECK(problem.is_varlen);
  CHECK_FALSE(problem.is_paged);
}

TEST_CASE("a paged call reads the table by its own stride") {
  Case c = paged_call();
  restride(c, TensorName::kBlockTable, {4, 1});
  Inputs inputs = empty_inputs(c);
  fill(inputs, c, TensorName::kSeqlensQ, {0, 3, 7});
  fill(inputs, c, TensorName::kSeqlensK, {0, 40, 110});
  fill(inputs, c, TensorName::kBlockTable, {3, 1, 0, 99, 4, 2, 0});
  c.args.window_size_left = 1000;
  const AttentionProblem problem = problem_of(c, inputs);
  CHECK(problem.block_table == std::vector<std::vector<int64_t>>{{3, 1, 0}, {4, 2, 0}});
  CHECK(problem.page_block_size == 32);
  CHECK(problem.k.batch_stride == 4096);
  CHECK(problem.sequences[1].seqlen_k == 70);
  CHECK(problem.window_size_left == 1000);  // as given; the wrapper drops it
}

TEST_CASE("a table with fewer rows than sequences leaves the others without pages") {
  Case c = paged_call();
  reshape(c, TensorName::kBlockTable, {1, 3});
  Inputs inputs = empty_inputs(c);
  fill(inputs, c, TensorName::kSeqlensQ, {0, 3, 7});
  fill(inputs, c, TensorName::kSeqlensK, {0, 4, 9});
  fill(inputs, c, TensorName::kBlockTable, {3, 1, 0});
  CHECK(problem_of(c, inputs).block_table == std::vector<std::vector<int64_t>>{{3, 1, 0}, {}});
}

TEST_CASE("empty ranges are dropped, negative starts kept") {
  Case c = paged_ranges_call();
  reshape(c, TensorName::kMmPrefixRanges, {2, 2, 2});
  Inputs inputs = empty_inputs(c);
  fill(inputs, c, TensorName::kSeqlensQ, {0, 3, 7});
  fill(inputs, c, TensorName::kSeqlensK, {0, 4, 9});
  fill(inputs, c, TensorName::kBlockTable, {3, 1, 0, 4, 2, 0});
  fill(inputs, c, TensorName::kMmPrefixRanges, {0, 0, -1, 3, 5, 2, 4, 5});
  using Ranges = std::vector<std::vector<std::pair<int64_t, int64_t>>>;
  CHECK(problem_of(c, inputs).mm_prefix_ranges == Ranges{{{-1, 3}}, {{4, 5}}});
}

TEST_CASE("slopes are read by their own stride") {
  Case c = fixed_alibi_call();
  restride(c, TensorName::kAlibiSlopes, {2});
  Inputs inputs = empty_inputs(c);
  for (int64_t h = 0; h < 8; ++h) {
    store(inputs, c, TensorName::kAlibiSlopes, 2 * h, 0.5 / static_cast<double>(h + 1));
  }
  const AttentionProblem problem = problem_of(c, inputs);
  REQUIRE(problem.alibi_slopes.size() == 8);
  CHECK(problem.alibi_slopes[0] == 0.5f);
  CHECK(problem.alibi_slopes[3] == 0.125f);
  CHECK_FALSE(problem.alibi_is_causal_form);
}

TEST_CASE("a softcap that is not above 0 is none") {
  Case c = fixed_call(Wrapper::kCandleFlashAttn, "flash_attn_alibi_windowed_softcap");
  const Inputs inputs = empty_inputs(c);
  for (const float softcap : {0.0f, -30.0f, std::numeric_limits<float>::quiet_NaN()}) {
    c.args.softcap = softcap;
    CHECK_FALSE(problem_of(c, inputs).softcap.has_value());
  }
  c.args.softcap = 30.0f;
  CHECK(problem_of(c, inputs).softcap == 30.0f);
}

}  // namespace flashcheck
