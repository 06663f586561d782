#include "tests/contract/calls.h"
#include "tests/contract/examples.h"

namespace flashcheck {
namespace {

constexpr auto kQ = TensorName::kQ;
constexpr auto kK = TensorName::kK;
constexpr auto kV = TensorName::kV;
constexpr auto kSeqlensQ = TensorName::kSeqlensQ;
constexpr auto kSeqlensK = TensorName::kSeqlensK;
constexpr auto kAlibiSlopes = TensorName::kAlibiSlopes;

constexpr std::string_view kUnwrap = "called `Option::unwrap()` on a `None` value";
constexpr std::string_view kRemainder = "attempt to calculate the remainder with a divisor of zero";

}  // namespace

std::vector<Example> varlen_examples() {
  return {
      {"FC-E001", with(varlen_call(), [](Case& c) { tensor(c, kK).device = kCpu; }),
       "device mismatch in flash-attn-varlen, lhs: Cuda { gpu_id: 0 }, rhs: Cpu",
       "candle-core/src/storage.rs:256"},
      {"FC-E001", with(varlen_call(), [](Case& c) { tensor(c, kV).device = kOtherGpu; }),
       "device mismatch in flash-attn-varlen, lhs: Cuda { gpu_id: 0 }, rhs: Cuda { gpu_id: 1 }",
       "candle-core/src/storage.rs:257"},
      {"FC-E002",
       with(varlen_call(),
            [](Case& c) {
              tensor(c, kQ).device = kCpu;
              tensor(c, kK).device = kCpu;
              tensor(c, kV).device = kCpu;
            }),
       "no cpu support for flash-attn", "candle-flash-attn/src/lib.rs:838"},
      {"FC-E003",
       with(varlen_call(),
            [](Case& c) {
              tensor(c, kQ).device = {Device::Kind::kMetal, 0};
              tensor(c, kK).device = {Device::Kind::kMetal, 0};
              tensor(c, kV).device = {Device::Kind::kMetal, 0};
            }),
       "Metal error no metal implementation for flash-attn-varlen",
       "candle-core/src/custom_op.rs:137"},
      {"FC-E101", with(varlen_call(), [](Case& c) { tensor(c, kQ).dtype = Dtype::kF8E4M3; }),
       "flash-attn is only supported for f16/bf16 (F8E4M3)", "candle-flash-attn/src/lib.rs:853"},
      {"FC-E102", with(varlen_call(), [](Case& c) { tensor(c, kSeqlensQ).dtype = Dtype::kI32; }),
       "unexpected dtype, expected: U32, got: I32", "candle-flash-attn/src/lib.rs:483"},
      {"FC-E004", with(varlen_call(), [](Case& c) { tensor(c, kSeqlensQ).device = kCpu; }),
       "seqlens_q must be a cuda tensor", "candle-flash-attn/src/lib.rs:484"},
      {"FC-E302", with(varlen_call(), [](Case& c) { restride(c, kSeqlensQ, {2}); }),
       "seqlens_q has to be contiguous", "candle-flash-attn/src/lib.rs:486-489"},
      {"FC-E802", with(varlen_call(), [](Case& c) { tensor(c, kSeqlensQ).offset = 1; }), kUnwrap,
       "candle-flash-attn/src/lib.rs:487", true},
      {"FC-E102", with(varlen_call(), [](Case& c) { tensor(c, kSeqlensK).dtype = Dtype::kI64; }),
       "unexpected dtype, expected: U32, got: I64", "candle-flash-attn/src/lib.rs:493"},
      {"FC-E004", with(varlen_call(), [](Case& c) { tensor(c, kSeqlensK).device = kCpu; }),
       "seqlens_k must be a cuda tensor", "candle-flash-attn/src/lib.rs:494"},
      {"FC-E302", with(varlen_call(), [](Case& c) { restride(c, kSeqlensK, {0}); }),
       "seqlens_k has to be contiguous", "candle-flash-attn/src/lib.rs:496-499"},
      {"FC-E802", with(varlen_call(), [](Case& c) { tensor(c, kSeqlensK).offset = 1; }), kUnwrap,
       "candle-flash-attn/src/lib.rs:497", true},
      {"FC-E103", with(varlen_call(), [](Case& c) { tensor(c, kK).dtype = Dtype::kBF16; }),
       "unexpected dtype, expected: F16, got: BF16", "candle-flash-attn/src/lib.rs:521"},
      {"FC-E103", with(varlen_call(), [](Case& c) { tensor(c, kV).dtype = Dtype::kBF16; }),
       "unexpected dtype, expected: F16, got: BF16", "candle-flash-attn/src/lib.rs:522"},
      {"FC-E801", with(varlen_call(), [](Case& c) { tensor(c, kQ).offset = 3585; }), kUnwrap,
       "candle-flash-attn/src/lib.rs:523", true},
      {"FC-E801", with(varlen_call(), [](Case& c) { tensor(c, kK).offset = 1153; }), kUnwrap,
       "candle-flash-attn/src/lib.rs:524", true},
      {"FC-E801", with(varlen_call(), [](Case& c) { tensor(c, kV).offset = 1153; }), kUnwrap,
       "candle-flash-attn/src/lib.rs:525", true},
      {"FC-E202",
       with(varlen_call(),
            [](Case& c) {
              reshape(c, kK, {5, 32, 2, 64});
              reshape(c, kV, {5, 32, 2, 64});
            }),
       "flash-attn-varlen expects input tensors of rank 3 (q: 3, k: 4, v: 4",
       "candle-flash-attn/src/lib.rs:538-542"},
      {"FC-E301",
       with(varlen_call(),
            [](Case& c) {
              restride(c, kQ, {512, 1, 8});
            }),
       "the last dim of q must be contiguous [512, 1, 8]", "candle-flash-attn/src/lib.rs:548-550"},
      {"FC-E301",
       with(varlen_call(),
            [](Case& c) {
              restride(c, kK, {1, 576, 9});
            }),
       "the last dim of k must be contiguous [1, 576, 9]", "candle-flash-attn/src/lib.rs:551-553"},
      {"FC-E301",
       with(varlen_call(),
            [](Case& c) {
              restride(c, kV, {1, 576, 9});
            }),
       "the last dim of v must be contiguous [1, 576, 9]", "candle-flash-attn/src/lib.rs:554-556"},
      {"FC-E401",
       with(varlen_call(),
            [](Case& c) {
              reshape(c, kK, {9, 2, 128});
              reshape(c, kV, {9, 2, 128});
            }),
       "shape mismatch q [7, 8, 64] and k [9, 2, 128]", "candle-flash-attn/src/lib.rs:588-591"},
      {"FC-E402",
       with(varlen_call(),
            [](Case& c) {
              reshape(c, kV, {9, 4, 64});
            }),
       "shape mismatch q [7, 8, 64] and v [9, 4, 64]", "candle-flash-attn/src/lib.rs:592-594"},
      {"FC-E411",
       with(varlen_call(),
            [](Case& c) {
              reshape(c, kQ, {7, 8, 576});
              reshape(c, kK, {9, 2, 576});
              reshape(c, kV, {9, 2, 576});
            }),
       "only supports head dimension at most 512 (got 576)",
       "candle-flash-attn/src/lib.rs:597-599"},
      {"FC-E414",
       with(varlen_call(),
            [](Case& c) {
              reshape(c, kQ, {7, 8, 36});
              reshape(c, kK, {9, 2, 36});
              reshape(c, kV, {9, 2, 36});
            }),
       "only supports head sizes that are a multiple of 8 (got 36)",
       "candle-flash-attn/src/lib.rs:600-603"},
      {"FC-E416",
       with(varlen_call(),
            [](Case& c) {
              reshape(c, kK, {9, 0, 64});
              reshape(c, kV, {9, 0, 64});
            }),
       kRemainder, "candle-flash-attn/src/lib.rs:604", true},
      {"FC-E415",
       with(varlen_call(),
            [](Case& c) {
              reshape(c, kK, {9, 16, 64});
              reshape(c, kV, {9, 16, 64});
            }),
       "number of k/v heads 16 must divide number of heads in query 8",
       "candle-flash-attn/src/lib.rs:604-606"},
      {"FC-E204",
       with(varlen_call(),
            [](Case& c) {
              reshape(c, kSeqlensQ, {1, 3});
            }),
       "unexpected rank, expected: 1, got: 2 ([1, 3])", "candle-flash-attn/src/lib.rs:608"},
      {"FC-E601", with(varlen_call(), [](Case& c) { reshape(c, kSeqlensQ, {1}); }),
       "seqlens_q should have a len >= 2 1", "candle-flash-attn/src/lib.rs:609-611"},
      {"FC-E204",
       with(varlen_call(),
            [](Case& c) {
              reshape(c, kSeqlensK, {3, 1});
            }),
       "unexpected rank, expected: 1, got: 2 ([3, 1])", "candle-flash-attn/src/lib.rs:612"},
      {"FC-E602", with(varlen_call(), [](Case& c) { reshape(c, kSeqlensK, {4}); }),
       "seqlens_q and seqlens_k should have the same number of elements 3 <> 4",
       "candle-flash-attn/src/lib.rs:613-615"},
      {"FC-E701",
       with(varlen_alibi_call(), [](Case& c) { tensor(c, kAlibiSlopes).dtype = Dtype::kBF16; }),
       "DType mismatch alibi_slopes BF16, expected F32", "candle-flash-attn/src/lib.rs:652-658"},
      {"FC-E204",
       with(varlen_alibi_call(),
            [](Case& c) {
              reshape(c, kAlibiSlopes, {2, 8});
            }),
       "unexpected rank, expected: 1, got: 2 ([2, 8])", "candle-flash-attn/src/lib.rs:662"},
      {"FC-E702", with(varlen_alibi_call(), [](Case& c) { reshape(c, kAlibiSlopes, {2}); }),
       "shape mismatch alibi_slopes [2], expected 8", "candle-flash-attn/src/lib.rs:662-668"},
      {"FC-E004", with(varlen_alibi_call(), [](Case& c) { tensor(c, kAlibiSlopes).device = kCpu; }),
       "alibi_slopes must be a cuda tensor", "candle-flash-attn/src/lib.rs:670-673"},
      {"FC-E801", with(varlen_alibi_call(), [](Case& c) { tensor(c, kAlibiSlopes).offset = 9; }),
       kUnwrap, "candle-flash-attn/src/lib.rs:675", true},
  };
}

std::vector<Example> v3_varlen_examples() {
  return {
      {"FC-E001",
       with(varlen_call(Wrapper::kCandleFlashAttnV3), [](Case& c) { tensor(c, kK).device = kCpu; }),
       "device mismatch in flash-attn-v3-varlen, lhs: Cuda { gpu_id: 0 }, rhs: Cpu",
       "candle-core/src/storage.rs:256"},
      {"FC-E001",
       with(varlen_call(Wrapper::kCandleFlashAttnV3),
            [](Case& c) { tensor(c, kV).device = kOtherGpu; }),
       "device mismatch in flash-attn-v3-varlen, lhs: Cuda { gpu_id: 0 }, rhs: Cuda { gpu_id: 1 }",
       "candle-core/src/storage.rs:257"},
      {"FC-E002",
       with(varlen_call(Wrapper::kCandleFlashAttnV3),
            [](Case& c) {
              tensor(c, kQ).device = kCpu;
              tensor(c, kK).device = kCpu;
              tensor(c, kV).device = kCpu;
            }),
       "no cpu support for flash-attn-v3", "candle-flash-attn-v3/src/lib.rs:702"},
      {"FC-E003",
       with(varlen_call(Wrapper::kCandleFlashAttnV3),
            [](Case& c) {
              tensor(c, kQ).device = {Device::Kind::kMetal, 0};
              tensor(c, kK).device = {Device::Kind::kMetal, 0};
              tensor(c, kV).device = {Device::Kind::kMetal, 0};
            }),
       "Metal error no metal implementation for flash-attn-v3-varlen",
       "candle-core/src/custom_op.rs:137"},
      {"FC-E101",
       with(varlen_call(Wrapper::kCandleFlashAttnV3),
            [](Case& c) { tensor(c, kQ).dtype = Dtype::kF8E4M3; }),
       "flash-attn-v3 is only supported for f16/bf16 (F8E4M3)",
       "candle-flash-attn-v3/src/lib.rs:717"},
      {"FC-E102",
       with(varlen_call(Wrapper::kCandleFlashAttnV3),
            [](Case& c) { tensor(c, kSeqlensQ).dtype = Dtype::kI32; }),
       "unexpected dtype, expected: U32, got: I32", "candle-flash-attn-v3/src/lib.rs:463"},
      {"FC-E004",
       with(varlen_call(Wrapper::kCandleFlashAttnV3),
            [](Case& c) { tensor(c, kSeqlensQ).device = kCpu; }),
       "seqlens_q must be a cuda tensor", "candle-flash-attn-v3/src/lib.rs:464"},
      {"FC-E302",
       with(varlen_call(Wrapper::kCandleFlashAttnV3), [](Case& c) { restride(c, kSeqlensQ, {2}); }),
       "seqlens_q has to be contiguous", "candle-flash-attn-v3/src/lib.rs:466-469"},
      {"FC-E802",
       with(varlen_call(Wrapper::kCandleFlashAttnV3),
            [](Case& c) { tensor(c, kSeqlensQ).offset = 1; }),
       kUnwrap, "candle-flash-attn-v3/src/lib.rs:467", true},
      {"FC-E102",
       with(varlen_call(Wrapper::kCandleFlashAttnV3),
            [](Case& c) { tensor(c, kSeqlensK).dtype = Dtype::kI64; }),
       "unexpected dtype, expected: U32, got: I64", "candle-flash-attn-v3/src/lib.rs:473"},
      {"FC-E004",
       with(varlen_call(Wrapper::kCandleFlashAttnV3),
            [](Case& c) { tensor(c, kSeqlensK).device = kCpu; }),
       "seqlens_k must be a cuda tensor", "candle-flash-attn-v3/src/lib.rs:474"},
      {"FC-E302",
       with(varlen_call(Wrapper::kCandleFlashAttnV3), [](Case& c) { restride(c, kSeqlensK, {0}); }),
       "seqlens_k has to be contiguous", "candle-flash-attn-v3/src/lib.rs:476-479"},
      {"FC-E802",
       with(varlen_call(Wrapper::kCandleFlashAttnV3),
            [](Case& c) { tensor(c, kSeqlensK).offset = 1; }),
       kUnwrap, "candle-flash-attn-v3/src/lib.rs:477", true},
      {"FC-E103",
       with(varlen_call(Wrapper::kCandleFlashAttnV3),
            [](Case& c) { tensor(c, kK).dtype = Dtype::kBF16; }),
       "unexpected dtype, expected: F16, got: BF16", "candle-flash-attn-v3/src/lib.rs:482"},
      {"FC-E103",
       with(varlen_call(Wrapper::kCandleFlashAttnV3),
            [](Case& c) { tensor(c, kV).dtype = Dtype::kBF16; }),
       "unexpected dtype, expected: F16, got: BF16", "candle-flash-attn-v3/src/lib.rs:483"},
      {"FC-E801",
       with(varlen_call(Wrapper::kCandleFlashAttnV3), [](Case& c) { tensor(c, kQ).offset = 3585; }),
       kUnwrap, "candle-flash-attn-v3/src/lib.rs:484", true},
      {"FC-E801",
       with(varlen_call(Wrapper::kCandleFlashAttnV3), [](Case& c) { tensor(c, kK).offset = 1153; }),
       kUnwrap, "candle-flash-attn-v3/src/lib.rs:485", true},
      {"FC-E801",
       with(varlen_call(Wrapper::kCandleFlashAttnV3), [](Case& c) { tensor(c, kV).offset = 1153; }),
       kUnwrap, "candle-flash-attn-v3/src/lib.rs:486", true},
      {"FC-E202",
       with(varlen_call(Wrapper::kCandleFlashAttnV3),
            [](Case& c) {
              reshape(c, kQ, {1, 7, 8, 64});
            }),
       "flash-attn-v3-varlen expects input tensors of rank 3 (q: 4, k: 3, v: 3",
       "candle-flash-attn-v3/src/lib.rs:498-502"},
      {"FC-E301",
       with(varlen_call(Wrapper::kCandleFlashAttnV3),
            [](Case& c) {
              restride(c, kQ, {512, 1, 8});
            }),
       "the last dim of q must be contiguous [512, 1, 8]",
       "candle-flash-attn-v3/src/lib.rs:503-505"},
      {"FC-E301",
       with(varlen_call(Wrapper::kCandleFlashAttnV3),
            [](Case& c) {
              restride(c, kK, {1, 576, 9});
            }),
       "the last dim of k must be contiguous [1, 576, 9]",
       "candle-flash-attn-v3/src/lib.rs:506-508"},
      {"FC-E301",
       with(varlen_call(Wrapper::kCandleFlashAttnV3),
            [](Case& c) {
              restride(c, kV, {1, 576, 9});
            }),
       "the last dim of v must be contiguous [1, 576, 9]",
       "candle-flash-attn-v3/src/lib.rs:509-511"},
      {"FC-E401",
       with(varlen_call(Wrapper::kCandleFlashAttnV3),
            [](Case& c) {
              reshape(c, kK, {9, 2, 128});
              reshape(c, kV, {9, 2, 128});
            }),
       "shape mismatch q [7, 8, 64] and k [9, 2, 128]", "candle-flash-attn-v3/src/lib.rs:515-518"},
      {"FC-E402",
       with(varlen_call(Wrapper::kCandleFlashAttnV3),
            [](Case& c) {
              reshape(c, kV, {9, 4, 64});
            }),
       "shape mismatch q [7, 8, 64] and v [9, 4, 64]", "candle-flash-attn-v3/src/lib.rs:519-521"},
      {"FC-E411",
       with(varlen_call(Wrapper::kCandleFlashAttnV3),
            [](Case& c) {
              reshape(c, kQ, {7, 8, 576});
              reshape(c, kK, {9, 2, 576});
              reshape(c, kV, {9, 2, 576});
            }),
       "only supports head dimension at most 512 (got 576)",
       "candle-flash-attn-v3/src/lib.rs:522-524"},
      {"FC-E413",
       with(varlen_call(Wrapper::kCandleFlashAttnV3),
            [](Case& c) {
              reshape(c, kQ, {7, 8, 80});
              reshape(c, kK, {9, 2, 80});
              reshape(c, kV, {9, 2, 80});
            }),
       "only supports head dimension 64, 128, 256 and 512 (got 80)",
       "candle-flash-attn-v3/src/lib.rs:525-531"},
      {"FC-E413",
       with(varlen_call(Wrapper::kCandleFlashAttnV3),
            [](Case& c) {
              reshape(c, kQ, {7, 8, 36});
              reshape(c, kK, {9, 2, 36});
              reshape(c, kV, {9, 2, 36});
            }),
       "only supports head dimension 64, 128, 256 and 512 (got 36)",
       "candle-flash-attn-v3/src/lib.rs:525-531"},
      {"FC-E416",
       with(varlen_call(Wrapper::kCandleFlashAttnV3),
            [](Case& c) {
              reshape(c, kK, {9, 0, 64});
              reshape(c, kV, {9, 0, 64});
            }),
       kRemainder, "candle-flash-attn-v3/src/lib.rs:536", true},
      {"FC-E415",
       with(varlen_call(Wrapper::kCandleFlashAttnV3),
            [](Case& c) {
              reshape(c, kK, {9, 16, 64});
              reshape(c, kV, {9, 16, 64});
            }),
       "number of k/v heads 16 must divide number of heads in query 8",
       "candle-flash-attn-v3/src/lib.rs:536-538"},
      {"FC-E204",
       with(varlen_call(Wrapper::kCandleFlashAttnV3),
            [](Case& c) {
              reshape(c, kSeqlensQ, {1, 3});
            }),
       "unexpected rank, expected: 1, got: 2 ([1, 3])", "candle-flash-attn-v3/src/lib.rs:544"},
      {"FC-E601",
       with(varlen_call(Wrapper::kCandleFlashAttnV3), [](Case& c) { reshape(c, kSeqlensQ, {1}); }),
       "seqlens_q should have a len >= 2 1", "candle-flash-attn-v3/src/lib.rs:545-547"},
      {"FC-E204",
       with(varlen_call(Wrapper::kCandleFlashAttnV3),
            [](Case& c) {
              reshape(c, kSeqlensK, {3, 1});
            }),
       "unexpected rank, expected: 1, got: 2 ([3, 1])", "candle-flash-attn-v3/src/lib.rs:548"},
      {"FC-E602",
       with(varlen_call(Wrapper::kCandleFlashAttnV3), [](Case& c) { reshape(c, kSeqlensK, {4}); }),
       "seqlens_q and seqlens_k should have the same number of elements 3 <> 4",
       "candle-flash-attn-v3/src/lib.rs:549-551"},
      {"FC-E701",
       with(varlen_alibi_call(Wrapper::kCandleFlashAttnV3),
            [](Case& c) { tensor(c, kAlibiSlopes).dtype = Dtype::kBF16; }),
       "DType mismatch alibi_slopes BF16, expected F32", "candle-flash-attn-v3/src/lib.rs:557-563"},
      {"FC-E204",
       with(varlen_alibi_call(Wrapper::kCandleFlashAttnV3),
            [](Case& c) {
              reshape(c, kAlibiSlopes, {2, 8});
            }),
       "unexpected rank, expected: 1, got: 2 ([2, 8])", "candle-flash-attn-v3/src/lib.rs:567"},
      {"FC-E702",
       with(varlen_alibi_call(Wrapper::kCandleFlashAttnV3),
            [](Case& c) { reshape(c, kAlibiSlopes, {2}); }),
       "shape mismatch alibi_slopes [2], expected 8", "candle-flash-attn-v3/src/lib.rs:567-573"},
      {"FC-E004",
       with(varlen_alibi_call(Wrapper::kCandleFlashAttnV3),
            [](Case& c) { tensor(c, kAlibiSlopes).device = kCpu; }),
       "alibi_slopes must be a cuda tensor", "candle-flash-attn-v3/src/lib.rs:575-578"},
      {"FC-E801",
       with(varlen_alibi_call(Wrapper::kCandleFlashAttnV3),
            [](Case& c) { tensor(c, kAlibiSlopes).offset = 9; }),
       kUnwrap, "candle-flash-attn-v3/src/lib.rs:580", true},
  };
}

}  // namespace flashcheck
