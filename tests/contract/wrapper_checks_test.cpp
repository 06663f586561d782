#include <doctest/doctest.h>

#include "src/contract/contract.h"
#include "tests/contract/calls.h"
#include "tests/contract/examples.h"

namespace flashcheck {
namespace {

void check_examples(const std::vector<Example>& examples) {
  REQUIRE_FALSE(examples.empty());
  for (const Example& example : examples) {
    CAPTURE(example.message);
    CAPTURE(example.source);
    const Outcome outcome = check_contract(example.c);
    REQUIRE_FALSE(outcome.findings.empty());
    const Finding& first = outcome.findings.front();
    CHECK(first.message == example.message);
    CHECK(first.rule->code == example.code);
    CHECK(first.source == example.source);
    CHECK(outcome.kind == (example.panics ? Outcome::Kind::kPanic : Outcome::Kind::kError));
    CHECK_FALSE(outcome.launch.has_value());
  }
}

void check_accepted(const Case& c) {
  const Outcome outcome = check_contract(c);
  CHECK(outcome.kind == Outcome::Kind::kLaunch);
  CHECK(outcome.findings.empty());
  CHECK(outcome.launch.has_value());
}

std::string first_message(const Case& c) {
  const Outcome outcome = check_contract(c);
  return outcome.findings.empty() ? "" : outcome.findings.front().message;
}

}  // namespace

TEST_CASE("the calls that the examples start from are accepted") {
  for (const Wrapper wrapper :
       {Wrapper::kCandleFlashAttn, Wrapper::kCandleFlashAttnV3, Wrapper::kNone}) {
    check_accepted(fixed_call(wrapper));
    check_accepted(fixed_alibi_call(wrapper));
    check_accepted(varlen_call(wrapper));
    check_accepted(varlen_alibi_call(wrapper));
  }
  check_accepted(paged_call());
  check_accepted(paged_call(Wrapper::kNone));
  check_accepted(paged_ranges_call());
}

TEST_CASE("every check of candle-flash-attn, fixed length") { check_examples(fixed_examples()); }
TEST_CASE("every check of candle-flash-attn, varlen") { check_examples(varlen_examples()); }
TEST_CASE("every check of candle-flash-attn, paged") { check_examples(paged_examples()); }
TEST_CASE("every check of candle-flash-attn-v3, fixed length") {
  check_examples(v3_fixed_examples());
}
TEST_CASE("every check of candle-flash-attn-v3, varlen") { check_examples(v3_varlen_examples()); }
TEST_CASE("every check without a wrapper") { check_examples(no_wrapper_examples()); }

TEST_CASE("what the wrapper accepts although it is wrong") {
  Case c = paged_call();
  SUBCASE("a block table with fewer rows than sequences") {
    reshape(c, TensorName::kBlockTable, {1, 3});
  }
  SUBCASE("a narrowed block table") { restride(c, TensorName::kBlockTable, {8, 1}); }
  SUBCASE("lengths on another GPU") { tensor(c, TensorName::kSeqlensQ).device = kOtherGpu; }
  SUBCASE("a page size of 0") {
    reshape(c, TensorName::kK, {5, 0, 2, 64});
    reshape(c, TensorName::kV, {5, 0, 2, 64});
    c.args.page_block_size = 0;
  }
  SUBCASE("an offset at the very end of the storage") {
    tensor(c, TensorName::kQ).offset = c.storage_elements(c.q());
  }
  check_accepted(c);
}

TEST_CASE("the order of the checks: with two faults, the earlier one speaks") {
  constexpr auto kQ = TensorName::kQ;
  constexpr auto kK = TensorName::kK;
  constexpr auto kV = TensorName::kV;
  constexpr auto kSeqlensQ = TensorName::kSeqlensQ;
  constexpr auto kSeqlensK = TensorName::kSeqlensK;
  constexpr auto kBlockTable = TensorName::kBlockTable;
  constexpr auto kMmPrefixRanges = TensorName::kMmPrefixRanges;
  constexpr auto kAlibiSlopes = TensorName::kAlibiSlopes;
  const auto reshape_kv = [](Case& c, const std::vector<int64_t>& shape) {
    reshape(c, kK, shape);
    reshape(c, kV, shape);
  };

  Case c = paged_call();
  SUBCASE("O1: device before dtype") {
    tensor(c, kK).device = kCpu;
    tensor(c, kQ).dtype = Dtype::kF32;
    CHECK(first_message(c) ==
          "device mismatch in flash-attn-varlen, lhs: Cuda { gpu_id: 0 }, rhs: Cpu");
  }
  SUBCASE("O2: q's dtype before the lengths' device") {
    tensor(c, kQ).dtype = Dtype::kF32;
    tensor(c, kSeqlensQ).device = kCpu;
    CHECK(first_message(c) == "flash-attn is only supported for f16/bf16 (F32)");
  }
  SUBCASE("O3: the lengths' dtype before q's rank") {
    tensor(c, kSeqlensQ).dtype = Dtype::kI32;
    reshape(c, kQ, {1, 7, 8, 64});
    CHECK(first_message(c) == "unexpected dtype, expected: U32, got: I32");
  }
  SUBCASE("O4: the lengths' dtype before the table's device") {
    tensor(c, kSeqlensK).dtype = Dtype::kI32;
    tensor(c, kBlockTable).device = kCpu;
    CHECK(first_message(c) == "unexpected dtype, expected: U32, got: I32");
  }
  SUBCASE("O5: the table's device before its rank") {
    tensor(c, kBlockTable).device = kCpu;
    reshape(c, kBlockTable, {6});
    CHECK(first_message(c) == "block_table must be a cuda tensor");
  }
  SUBCASE("O6: the table's rank before k's") {
    reshape(c, kBlockTable, {6});
    reshape(c, kK, {160, 2, 64});
    CHECK(first_message(c) == "unexpected rank, expected: 2, got: 1 ([6])");
  }
  SUBCASE("O7: the table's rank before k's dtype") {
    reshape(c, kBlockTable, {6});
    tensor(c, kK).dtype = Dtype::kBF16;
    CHECK(first_message(c) == "unexpected rank, expected: 2, got: 1 ([6])");
  }
  SUBCASE("O8: k's dtype before its rank") {
    tensor(c, kK).dtype = Dtype::kBF16;
    reshape(c, kK, {160, 2, 64});
    CHECK(first_message(c) == "unexpected dtype, expected: F16, got: BF16");
  }
  SUBCASE("O9: q's strides before k's") {
    restride(c, kQ, {512, 1, 8});
    restride(c, kK, {4096, 1, 2048, 32});
    CHECK(first_message(c) == "the last dim of q must be contiguous [512, 1, 8]");
  }
  SUBCASE("O10: v's shape before the page size") {
    reshape(c, kV, {4, 32, 2, 64});
    c.args.page_block_size = 64;
    CHECK(first_message(c) == "shape mismatch k [5, 32, 2, 64] and v [4, 32, 2, 64]");
  }
  SUBCASE("O11: the page size's mismatch before its multiple") {
    reshape_kv(c, {5, 16, 2, 64});
    CHECK(first_message(c) == "page_block_size 32 does not match k shape [5, 16, 2, 64]");
  }
  SUBCASE("O12: the page size before the head size") {
    reshape(c, kQ, {7, 8, 520});
    reshape_kv(c, {5, 16, 2, 520});
    c.args.page_block_size = 16;
    CHECK(first_message(c) ==
          "paged flash-attn requires page_block_size to be a multiple of 32 (got 16)");
  }
  SUBCASE("O13: the head size before the heads") {
    reshape(c, kQ, {7, 8, 100});
    reshape_kv(c, {5, 32, 5, 100});
    CHECK(first_message(c) == "only supports head sizes that are a multiple of 8 (got 100)");
  }
  SUBCASE("O14: the heads before the length of the lengths") {
    reshape(c, kSeqlensQ, {1});
    reshape_kv(c, {5, 32, 5, 64});
    CHECK(first_message(c) == "number of k/v heads 5 must divide number of heads in query 8");
  }
  SUBCASE("O15: the page size before the table's dtype") {
    tensor(c, kBlockTable).dtype = Dtype::kI64;
    c.args.page_block_size = 64;
    CHECK(first_message(c) == "page_block_size 64 does not match k shape [5, 32, 2, 64]");
  }
  SUBCASE("O16: the ranges' shape before the table's dtype") {
    put(c, kMmPrefixRanges, Dtype::kI32, {1, 1, 2});
    tensor(c, kBlockTable).dtype = Dtype::kI64;
    CHECK(first_message(c) == "mm_prefix_ranges shape must be (2, max_ranges, 2), got [1, 1, 2]");
  }
  SUBCASE("O17: the ranges' dtype before their device") {
    put(c, kMmPrefixRanges, Dtype::kU32, {2, 1, 2});
    tensor(c, kMmPrefixRanges).device = kCpu;
    CHECK(first_message(c) == "mm_prefix_ranges must be i32, got U32");
  }

  Case fixed = fixed_alibi_call();
  SUBCASE("O18: the slopes' dtype before all else of them") {
    put(fixed, kAlibiSlopes, Dtype::kF16, {4});
    tensor(fixed, kAlibiSlopes).device = kCpu;
    CHECK(first_message(fixed) == "DType mismatch alibi_slopes F16, expected F32");
  }
  SUBCASE("O19: the slopes' length before their device") {
    put(fixed, kAlibiSlopes, Dtype::kF32, {4});
    tensor(fixed, kAlibiSlopes).device = kCpu;
    CHECK(first_message(fixed) == "shape mismatch alibi_slopes [4], expected 8");
  }
  SUBCASE("O20: the largest head size before its multiple") {
    reshape(fixed, kQ, {2, 4, 8, 516});
    reshape_kv(fixed, {2, 6, 2, 516});
    CHECK(first_message(fixed) == "only supports head dimension at most 512 (got 516)");
  }
  SUBCASE("O21: a scalar has rank 0") {
    reshape(fixed, kQ, {});
    CHECK(first_message(fixed) == "flash-attn expects input tensors of rank 4 (q: 0, k: 4, v: 4");
  }
  SUBCASE("O22: the stride counts although the dim has size 1") {
    reshape(fixed, kQ, {2, 4, 8, 1});
    restride(fixed, kQ, {32, 8, 1, 64});
    CHECK(first_message(fixed) == "the last dim of q must be contiguous [32, 8, 1, 64]");
  }
}

}  // namespace flashcheck
