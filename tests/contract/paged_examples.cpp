#include "tests/contract/calls.h"
#include "tests/contract/examples.h"

namespace flashcheck {
namespace {

constexpr auto kQ = TensorName::kQ;
constexpr auto kK = TensorName::kK;
constexpr auto kV = TensorName::kV;
constexpr auto kSeqlensQ = TensorName::kSeqlensQ;
constexpr auto kSeqlensK = TensorName::kSeqlensK;
constexpr auto kBlockTable = TensorName::kBlockTable;
constexpr auto kMmPrefixRanges = TensorName::kMmPrefixRanges;

constexpr std::string_view kUnwrap = "called `Option::unwrap()` on a `None` value";
constexpr std::string_view kRemainder = "attempt to calculate the remainder with a divisor of zero";

}  // namespace

std::vector<Example> paged_examples() {
  return {
      {"FC-E001", with(paged_call(), [](Case& c) { tensor(c, kK).device = kCpu; }),
       "device mismatch in flash-attn-varlen, lhs: Cuda { gpu_id: 0 }, rhs: Cpu",
       "candle-core/src/storage.rs:256"},
      {"FC-E001", with(paged_call(), [](Case& c) { tensor(c, kV).device = kOtherGpu; }),
       "device mismatch in flash-attn-varlen, lhs: Cuda { gpu_id: 0 }, rhs: Cuda { gpu_id: 1 }",
       "candle-core/src/storage.rs:257"},
      {"FC-E002",
       with(paged_call(),
            [](Case& c) {
              tensor(c, kQ).device = kCpu;
              tensor(c, kK).device = kCpu;
              tensor(c, kV).device = kCpu;
            }),
       "no cpu support for flash-attn", "candle-flash-attn/src/lib.rs:838"},
      {"FC-E003",
       with(paged_call(),
            [](Case& c) {
              tensor(c, kQ).device = {Device::Kind::kMetal, 0};
              tensor(c, kK).device = {Device::Kind::kMetal, 0};
              tensor(c, kV).device = {Device::Kind::kMetal, 0};
            }),
       "Metal error no metal implementation for flash-attn-varlen",
       "candle-core/src/custom_op.rs:137"},
      {"FC-E101", with(paged_call(), [](Case& c) { tensor(c, kQ).dtype = Dtype::kF32; }),
       "flash-attn is only supported for f16/bf16 (F32)", "candle-flash-attn/src/lib.rs:853"},
      {"FC-E102", with(paged_call(), [](Case& c) { tensor(c, kSeqlensQ).dtype = Dtype::kI32; }),
       "unexpected dtype, expected: U32, got: I32", "candle-flash-attn/src/lib.rs:483"},
      {"FC-E004", with(paged_call(), [](Case& c) { tensor(c, kSeqlensQ).device = kCpu; }),
       "seqlens_q must be a cuda tensor", "candle-flash-attn/src/lib.rs:484"},
      {"FC-E302", with(paged_call(), [](Case& c) { restride(c, kSeqlensQ, {2}); }),
       "seqlens_q has to be contiguous", "candle-flash-attn/src/lib.rs:486-489"},
      {"FC-E802", with(paged_call(), [](Case& c) { tensor(c, kSeqlensQ).offset = 1; }), kUnwrap,
       "candle-flash-attn/src/lib.rs:487", true},
      {"FC-E102", with(paged_call(), [](Case& c) { tensor(c, kSeqlensK).dtype = Dtype::kI64; }),
       "unexpected dtype, expected: U32, got: I64", "candle-flash-attn/src/lib.rs:493"},
      {"FC-E004", with(paged_call(), [](Case& c) { tensor(c, kSeqlensK).device = kCpu; }),
       "seqlens_k must be a cuda tensor", "candle-flash-attn/src/lib.rs:494"},
      {"FC-E302", with(paged_call(), [](Case& c) { restride(c, kSeqlensK, {0}); }),
       "seqlens_k has to be contiguous", "candle-flash-attn/src/lib.rs:496-499"},
      {"FC-E802", with(paged_call(), [](Case& c) { tensor(c, kSeqlensK).offset = 1; }), kUnwrap,
       "candle-flash-attn/src/lib.rs:497", true},
      {"FC-E004", with(paged_call(), [](Case& c) { tensor(c, kBlockTable).device = kCpu; }),
       "block_table must be a cuda tensor", "candle-flash-attn/src/lib.rs:503-506"},
      {"FC-E204", with(paged_call(), [](Case& c) { reshape(c, kBlockTable, {6}); }),
       "unexpected rank, expected: 2, got: 1 ([6])", "candle-flash-attn/src/lib.rs:507"},
      {"FC-E303",
       with(paged_call(),
            [](Case& c) {
              restride(c, kBlockTable, {1, 2});
            }),
       "block_table last dimension must be contiguous", "candle-flash-attn/src/lib.rs:508-510"},
      {"FC-E303",
       with(paged_call(),
            [](Case& c) {
              reshape(c, kBlockTable, {2, 1});
              restride(c, kBlockTable, {1, 2});
            }),
       "block_table last dimension must be contiguous", "candle-flash-attn/src/lib.rs:508-510"},
      {"FC-E103", with(paged_call(), [](Case& c) { tensor(c, kK).dtype = Dtype::kBF16; }),
       "unexpected dtype, expected: F16, got: BF16", "candle-flash-attn/src/lib.rs:521"},
      {"FC-E103", with(paged_call(), [](Case& c) { tensor(c, kV).dtype = Dtype::kBF16; }),
       "unexpected dtype, expected: F16, got: BF16", "candle-flash-attn/src/lib.rs:522"},
      {"FC-E801", with(paged_call(), [](Case& c) { tensor(c, kQ).offset = 3585; }), kUnwrap,
       "candle-flash-attn/src/lib.rs:523", true},
      {"FC-E801", with(paged_call(), [](Case& c) { tensor(c, kK).offset = 20481; }), kUnwrap,
       "candle-flash-attn/src/lib.rs:524", true},
      {"FC-E801", with(paged_call(), [](Case& c) { tensor(c, kV).offset = 20481; }), kUnwrap,
       "candle-flash-attn/src/lib.rs:525", true},
      {"FC-E202",
       with(paged_call(),
            [](Case& c) {
              reshape(c, kQ, {1, 7, 8, 64});
            }),
       "flash-attn-varlen expects input tensors of rank 3 (q: 4, k: 4, v: 4",
       "candle-flash-attn/src/lib.rs:538-542"},
      {"FC-E203",
       with(paged_call(),
            [](Case& c) {
              reshape(c, kK, {160, 2, 64});
              reshape(c, kV, {160, 2, 64});
            }),
       "flash-attn-varlen paged expects k/v tensors of rank 4 (k: 3, v: 3)",
       "candle-flash-attn/src/lib.rs:543-547"},
      {"FC-E301",
       with(paged_call(),
            [](Case& c) {
              restride(c, kQ, {512, 1, 8});
            }),
       "the last dim of q must be contiguous [512, 1, 8]", "candle-flash-attn/src/lib.rs:548-550"},
      {"FC-E301",
       with(paged_call(),
            [](Case& c) {
              restride(c, kK, {4096, 1, 2048, 32});
            }),
       "the last dim of k must be contiguous [4096, 1, 2048, 32]",
       "candle-flash-attn/src/lib.rs:551-553"},
      {"FC-E301",
       with(paged_call(),
            [](Case& c) {
              restride(c, kV, {4096, 1, 2048, 32});
            }),
       "the last dim of v must be contiguous [4096, 1, 2048, 32]",
       "candle-flash-attn/src/lib.rs:554-556"},
      {"FC-E403",
       with(paged_call(),
            [](Case& c) {
              reshape(c, kV, {4, 32, 2, 64});
            }),
       "shape mismatch k [5, 32, 2, 64] and v [4, 32, 2, 64]",
       "candle-flash-attn/src/lib.rs:561-564"},
      {"FC-E401",
       with(paged_call(),
            [](Case& c) {
              reshape(c, kK, {5, 32, 2, 128});
              reshape(c, kV, {5, 32, 2, 128});
            }),
       "shape mismatch q [7, 8, 64] and k [5, 32, 2, 128]", "candle-flash-attn/src/lib.rs:565-567"},
      {"FC-E501", with(paged_call(), [](Case& c) { c.args.page_block_size = 64; }),
       "page_block_size 64 does not match k shape [5, 32, 2, 64]",
       "candle-flash-attn/src/lib.rs:571-576"},
      {"FC-E502",
       with(paged_call(),
            [](Case& c) {
              reshape(c, kK, {5, 16, 2, 64});
              reshape(c, kV, {5, 16, 2, 64});
              c.args.page_block_size = 16;
            }),
       "paged flash-attn requires page_block_size to be a multiple of 32 (got 16)",
       "candle-flash-attn/src/lib.rs:577-581"},
      {"FC-E412",
       with(paged_call(),
            [](Case& c) {
              reshape(c, kQ, {7, 8, 520});
              reshape(c, kK, {5, 32, 2, 520});
              reshape(c, kV, {5, 32, 2, 520});
            }),
       "paged flash-attn supports head sizes up to 512 (got 520)",
       "candle-flash-attn/src/lib.rs:582-584"},
      {"FC-E414",
       with(paged_call(),
            [](Case& c) {
              reshape(c, kQ, {7, 8, 36});
              reshape(c, kK, {5, 32, 2, 36});
              reshape(c, kV, {5, 32, 2, 36});
            }),
       "only supports head sizes that are a multiple of 8 (got 36)",
       "candle-flash-attn/src/lib.rs:600-603"},
      {"FC-E416",
       with(paged_call(),
            [](Case& c) {
              reshape(c, kK, {5, 32, 0, 64});
              reshape(c, kV, {5, 32, 0, 64});
            }),
       kRemainder, "candle-flash-attn/src/lib.rs:604", true},
      {"FC-E415",
       with(paged_call(),
            [](Case& c) {
              reshape(c, kK, {5, 32, 16, 64});
              reshape(c, kV, {5, 32, 16, 64});
            }),
       "number of k/v heads 16 must divide number of heads in query 8",
       "candle-flash-attn/src/lib.rs:604-606"},
      {"FC-E204",
       with(paged_call(),
            [](Case& c) {
              reshape(c, kSeqlensQ, {1, 3});
            }),
       "unexpected rank, expected: 1, got: 2 ([1, 3])", "candle-flash-attn/src/lib.rs:608"},
      {"FC-E601", with(paged_call(), [](Case& c) { reshape(c, kSeqlensQ, {1}); }),
       "seqlens_q should have a len >= 2 1", "candle-flash-attn/src/lib.rs:609-611"},
      {"FC-E204",
       with(paged_call(),
            [](Case& c) {
              reshape(c, kSeqlensK, {3, 1});
            }),
       "unexpected rank, expected: 1, got: 2 ([3, 1])", "candle-flash-attn/src/lib.rs:612"},
      {"FC-E602", with(paged_call(), [](Case& c) { reshape(c, kSeqlensK, {4}); }),
       "seqlens_q and seqlens_k should have the same number of elements 3 <> 4",
       "candle-flash-attn/src/lib.rs:613-615"},
      {"FC-E105",
       with(paged_ranges_call(), [](Case& c) { tensor(c, kMmPrefixRanges).dtype = Dtype::kU32; }),
       "mm_prefix_ranges must be i32, got U32", "candle-flash-attn/src/lib.rs:620-625"},
      {"FC-E004",
       with(paged_ranges_call(), [](Case& c) { tensor(c, kMmPrefixRanges).device = kCpu; }),
       "mm_prefix_ranges must be a cuda tensor", "candle-flash-attn/src/lib.rs:626-629"},
      {"FC-E204",
       with(paged_ranges_call(),
            [](Case& c) {
              reshape(c, kMmPrefixRanges, {2, 2});
            }),
       "unexpected rank, expected: 3, got: 2 ([2, 2])", "candle-flash-attn/src/lib.rs:630"},
      {"FC-E603",
       with(paged_ranges_call(),
            [](Case& c) {
              reshape(c, kMmPrefixRanges, {1, 4, 2});
            }),
       "mm_prefix_ranges shape must be (2, max_ranges, 2), got [1, 4, 2]",
       "candle-flash-attn/src/lib.rs:631-636"},
      {"FC-E303",
       with(paged_ranges_call(),
            [](Case& c) {
              reshape(c, kMmPrefixRanges, {2, 4, 2});
              restride(c, kMmPrefixRanges, {8, 1, 4});
            }),
       "mm_prefix_ranges last dimension must be contiguous",
       "candle-flash-attn/src/lib.rs:637-639"},
      {"FC-E104", with(paged_call(), [](Case& c) { tensor(c, kBlockTable).dtype = Dtype::kI64; }),
       "block_table must be u32 or i32, got I64", "candle-flash-attn/src/lib.rs:749-751"},
      {"FC-E801", with(paged_call(), [](Case& c) { tensor(c, kBlockTable).offset = 7; }), kUnwrap,
       "candle-flash-attn/src/lib.rs:739, 745", true},
      {"FC-E801", with(paged_ranges_call(), [](Case& c) { tensor(c, kMmPrefixRanges).offset = 5; }),
       kUnwrap, "candle-flash-attn/src/lib.rs:761", true},
  };
}

}  // namespace flashcheck
