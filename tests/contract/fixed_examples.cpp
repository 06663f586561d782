#include "tests/contract/calls.h"
#include "tests/contract/examples.h"

namespace flashcheck {
namespace {

constexpr auto kQ = TensorName::kQ;
constexpr auto kK = TensorName::kK;
constexpr auto kV = TensorName::kV;
constexpr auto kAlibiSlopes = TensorName::kAlibiSlopes;

constexpr std::string_view kUnwrap = "called `Option::unwrap()` on a `None` value";
constexpr std::string_view kRemainder = "attempt to calculate the remainder with a divisor of zero";

}  // namespace

std::vector<Example> fixed_examples() {
  return {
      {"FC-E001", with(fixed_call(), [](Case& c) { tensor(c, kK).device = kCpu; }),
       "device mismatch in flash-attn, lhs: Cuda { gpu_id: 0 }, rhs: Cpu",
       "candle-core/src/storage.rs:256"},
      {"FC-E001", with(fixed_call(), [](Case& c) { tensor(c, kV).device = kOtherGpu; }),
       "device mismatch in flash-attn, lhs: Cuda { gpu_id: 0 }, rhs: Cuda { gpu_id: 1 }",
       "candle-core/src/storage.rs:257"},
      {"FC-E002",
       with(fixed_call(),
            [](Case& c) {
              tensor(c, kQ).device = kCpu;
              tensor(c, kK).device = kCpu;
              tensor(c, kV).device = kCpu;
            }),
       "no cpu support for flash-attn", "candle-flash-attn/src/lib.rs:237"},
      {"FC-E003",
       with(fixed_call(),
            [](Case& c) {
              tensor(c, kQ).device = {Device::Kind::kMetal, 0};
              tensor(c, kK).device = {Device::Kind::kMetal, 0};
              tensor(c, kV).device = {Device::Kind::kMetal, 0};
            }),
       "Metal error no metal implementation for flash-attn", "candle-core/src/custom_op.rs:137"},
      {"FC-E101", with(fixed_call(), [](Case& c) { tensor(c, kQ).dtype = Dtype::kF32; }),
       "flash-attn is only supported for f16/bf16 (F32)", "candle-flash-attn/src/lib.rs:252"},
      {"FC-E103", with(fixed_call(), [](Case& c) { tensor(c, kK).dtype = Dtype::kBF16; }),
       "unexpected dtype, expected: F16, got: BF16", "candle-flash-attn/src/lib.rs:39"},
      {"FC-E103", with(fixed_call(), [](Case& c) { tensor(c, kV).dtype = Dtype::kF32; }),
       "unexpected dtype, expected: F16, got: F32", "candle-flash-attn/src/lib.rs:40"},
      {"FC-E801", with(fixed_call(), [](Case& c) { tensor(c, kQ).offset = 5000; }), kUnwrap,
       "candle-flash-attn/src/lib.rs:41", true},
      {"FC-E801", with(fixed_call(), [](Case& c) { tensor(c, kK).offset = 1600; }), kUnwrap,
       "candle-flash-attn/src/lib.rs:42", true},
      {"FC-E801", with(fixed_call(), [](Case& c) { tensor(c, kV).offset = 1600; }), kUnwrap,
       "candle-flash-attn/src/lib.rs:43", true},
      {"FC-E201",
       with(fixed_call(),
            [](Case& c) {
              reshape(c, kK, {6, 2, 64});
            }),
       "flash-attn expects input tensors of rank 4 (q: 4, k: 3, v: 4",
       "candle-flash-attn/src/lib.rs:55-59"},
      {"FC-E301",
       with(fixed_call(),
            [](Case& c) {
              restride(c, kQ, {2048, 1, 256, 4});
            }),
       "the last dim of q must be contiguous [2048, 1, 256, 4]",
       "candle-flash-attn/src/lib.rs:60-62"},
      {"FC-E301",
       with(fixed_call(),
            [](Case& c) {
              restride(c, kK, {768, 1, 384, 6});
            }),
       "the last dim of k must be contiguous [768, 1, 384, 6]",
       "candle-flash-attn/src/lib.rs:63-65"},
      {"FC-E301",
       with(fixed_call(),
            [](Case& c) {
              restride(c, kV, {768, 1, 384, 6});
            }),
       "the last dim of v must be contiguous [768, 1, 384, 6]",
       "candle-flash-attn/src/lib.rs:66-68"},
      {"FC-E401",
       with(fixed_call(),
            [](Case& c) {
              reshape(c, kK, {1, 6, 2, 64});
              reshape(c, kV, {1, 6, 2, 64});
            }),
       "shape mismatch q [2, 4, 8, 64] and k [1, 6, 2, 64]", "candle-flash-attn/src/lib.rs:72-75"},
      {"FC-E402",
       with(fixed_call(),
            [](Case& c) {
              reshape(c, kV, {2, 5, 2, 64});
            }),
       "shape mismatch q [2, 4, 8, 64] and v [2, 5, 2, 64]", "candle-flash-attn/src/lib.rs:76-78"},
      {"FC-E411",
       with(fixed_call(),
            [](Case& c) {
              reshape(c, kQ, {2, 4, 8, 520});
              reshape(c, kK, {2, 6, 2, 520});
              reshape(c, kV, {2, 6, 2, 520});
            }),
       "only supports head dimension at most 512 (got 520)", "candle-flash-attn/src/lib.rs:79-81"},
      {"FC-E414",
       with(fixed_call(),
            [](Case& c) {
              reshape(c, kQ, {2, 4, 8, 60});
              reshape(c, kK, {2, 6, 2, 60});
              reshape(c, kV, {2, 6, 2, 60});
            }),
       "only supports head sizes that are a multiple of 8 (got 60)",
       "candle-flash-attn/src/lib.rs:82-85"},
      {"FC-E416",
       with(fixed_call(),
            [](Case& c) {
              reshape(c, kK, {2, 6, 0, 64});
              reshape(c, kV, {2, 6, 0, 64});
            }),
       kRemainder, "candle-flash-attn/src/lib.rs:86", true},
      {"FC-E415",
       with(fixed_call(),
            [](Case& c) {
              reshape(c, kK, {2, 6, 3, 64});
              reshape(c, kV, {2, 6, 3, 64});
            }),
       "number of k/v heads 3 must divide number of heads in query 8",
       "candle-flash-attn/src/lib.rs:86-88"},
      {"FC-E701",
       with(fixed_alibi_call(), [](Case& c) { tensor(c, kAlibiSlopes).dtype = Dtype::kF16; }),
       "DType mismatch alibi_slopes F16, expected F32", "candle-flash-attn/src/lib.rs:92-98"},
      {"FC-E204",
       with(fixed_alibi_call(),
            [](Case& c) {
              reshape(c, kAlibiSlopes, {1, 8});
            }),
       "unexpected rank, expected: 1, got: 2 ([1, 8])", "candle-flash-attn/src/lib.rs:102"},
      {"FC-E702", with(fixed_alibi_call(), [](Case& c) { reshape(c, kAlibiSlopes, {4}); }),
       "shape mismatch alibi_slopes [4], expected 8", "candle-flash-attn/src/lib.rs:102-108"},
      {"FC-E004", with(fixed_alibi_call(), [](Case& c) { tensor(c, kAlibiSlopes).device = kCpu; }),
       "alibi_slopes must be a cuda tensor", "candle-flash-attn/src/lib.rs:110-113"},
      {"FC-E801", with(fixed_alibi_call(), [](Case& c) { tensor(c, kAlibiSlopes).offset = 9; }),
       kUnwrap, "candle-flash-attn/src/lib.rs:115", true},
  };
}

std::vector<Example> v3_fixed_examples() {
  return {
      {"FC-E001",
       with(fixed_call(Wrapper::kCandleFlashAttnV3), [](Case& c) { tensor(c, kK).device = kCpu; }),
       "device mismatch in flash-attn-v3, lhs: Cuda { gpu_id: 0 }, rhs: Cpu",
       "candle-core/src/storage.rs:256"},
      {"FC-E001",
       with(fixed_call(Wrapper::kCandleFlashAttnV3),
            [](Case& c) { tensor(c, kV).device = kOtherGpu; }),
       "device mismatch in flash-attn-v3, lhs: Cuda { gpu_id: 0 }, rhs: Cuda { gpu_id: 1 }",
       "candle-core/src/storage.rs:257"},
      {"FC-E002",
       with(fixed_call(Wrapper::kCandleFlashAttnV3),
            [](Case& c) {
              tensor(c, kQ).device = kCpu;
              tensor(c, kK).device = kCpu;
              tensor(c, kV).device = kCpu;
            }),
       "no cpu support for flash-attn-v3", "candle-flash-attn-v3/src/lib.rs:257"},
      {"FC-E003",
       with(fixed_call(Wrapper::kCandleFlashAttnV3),
            [](Case& c) {
              tensor(c, kQ).device = {Device::Kind::kMetal, 0};
              tensor(c, kK).device = {Device::Kind::kMetal, 0};
              tensor(c, kV).device = {Device::Kind::kMetal, 0};
            }),
       "Metal error no metal implementation for flash-attn-v3", "candle-core/src/custom_op.rs:137"},
      {"FC-E101",
       with(fixed_call(Wrapper::kCandleFlashAttnV3),
            [](Case& c) { tensor(c, kQ).dtype = Dtype::kF32; }),
       "flash-attn-v3 is only supported for f16/bf16 (F32)", "candle-flash-attn-v3/src/lib.rs:272"},
      {"FC-E103",
       with(fixed_call(Wrapper::kCandleFlashAttnV3),
            [](Case& c) { tensor(c, kK).dtype = Dtype::kBF16; }),
       "unexpected dtype, expected: F16, got: BF16", "candle-flash-attn-v3/src/lib.rs:48"},
      {"FC-E103",
       with(fixed_call(Wrapper::kCandleFlashAttnV3),
            [](Case& c) { tensor(c, kV).dtype = Dtype::kF32; }),
       "unexpected dtype, expected: F16, got: F32", "candle-flash-attn-v3/src/lib.rs:49"},
      {"FC-E801",
       with(fixed_call(Wrapper::kCandleFlashAttnV3), [](Case& c) { tensor(c, kQ).offset = 5000; }),
       kUnwrap, "candle-flash-attn-v3/src/lib.rs:50", true},
      {"FC-E801",
       with(fixed_call(Wrapper::kCandleFlashAttnV3), [](Case& c) { tensor(c, kK).offset = 1600; }),
       kUnwrap, "candle-flash-attn-v3/src/lib.rs:51", true},
      {"FC-E801",
       with(fixed_call(Wrapper::kCandleFlashAttnV3), [](Case& c) { tensor(c, kV).offset = 1600; }),
       kUnwrap, "candle-flash-attn-v3/src/lib.rs:52", true},
      {"FC-E201",
       with(fixed_call(Wrapper::kCandleFlashAttnV3),
            [](Case& c) {
              reshape(c, kK, {6, 2, 64});
            }),
       "flash-attn-v3 expects input tensors of rank 4 (q: 4, k: 3, v: 4",
       "candle-flash-attn-v3/src/lib.rs:64-68"},
      {"FC-E301",
       with(fixed_call(Wrapper::kCandleFlashAttnV3),
            [](Case& c) {
              restride(c, kQ, {2048, 1, 256, 4});
            }),
       "the last dim of q must be contiguous [2048, 1, 256, 4]",
       "candle-flash-attn-v3/src/lib.rs:69-71"},
      {"FC-E301",
       with(fixed_call(Wrapper::kCandleFlashAttnV3),
            [](Case& c) {
              restride(c, kK, {768, 1, 384, 6});
            }),
       "the last dim of k must be contiguous [768, 1, 384, 6]",
       "candle-flash-attn-v3/src/lib.rs:72-74"},
      {"FC-E301",
       with(fixed_call(Wrapper::kCandleFlashAttnV3),
            [](Case& c) {
              restride(c, kV, {768, 1, 384, 6});
            }),
       "the last dim of v must be contiguous [768, 1, 384, 6]",
       "candle-flash-attn-v3/src/lib.rs:75-77"},
      {"FC-E401",
       with(fixed_call(Wrapper::kCandleFlashAttnV3),
            [](Case& c) {
              reshape(c, kK, {1, 6, 2, 64});
              reshape(c, kV, {1, 6, 2, 64});
            }),
       "shape mismatch q [2, 4, 8, 64] and k [1, 6, 2, 64]",
       "candle-flash-attn-v3/src/lib.rs:81-84"},
      {"FC-E402",
       with(fixed_call(Wrapper::kCandleFlashAttnV3),
            [](Case& c) {
              reshape(c, kV, {2, 5, 2, 64});
            }),
       "shape mismatch q [2, 4, 8, 64] and v [2, 5, 2, 64]",
       "candle-flash-attn-v3/src/lib.rs:85-87"},
      {"FC-E411",
       with(fixed_call(Wrapper::kCandleFlashAttnV3),
            [](Case& c) {
              reshape(c, kQ, {2, 4, 8, 520});
              reshape(c, kK, {2, 6, 2, 520});
              reshape(c, kV, {2, 6, 2, 520});
            }),
       "only supports head dimension at most 512 (got 520)",
       "candle-flash-attn-v3/src/lib.rs:88-90"},
      {"FC-E413",
       with(fixed_call(Wrapper::kCandleFlashAttnV3),
            [](Case& c) {
              reshape(c, kQ, {2, 4, 8, 96});
              reshape(c, kK, {2, 6, 2, 96});
              reshape(c, kV, {2, 6, 2, 96});
            }),
       "only supports head dimension 64, 128, 256 and 512 (got 96)",
       "candle-flash-attn-v3/src/lib.rs:91-97"},
      {"FC-E413",
       with(fixed_call(Wrapper::kCandleFlashAttnV3),
            [](Case& c) {
              reshape(c, kQ, {2, 4, 8, 60});
              reshape(c, kK, {2, 6, 2, 60});
              reshape(c, kV, {2, 6, 2, 60});
            }),
       "only supports head dimension 64, 128, 256 and 512 (got 60)",
       "candle-flash-attn-v3/src/lib.rs:91-97"},
      {"FC-E416",
       with(fixed_call(Wrapper::kCandleFlashAttnV3),
            [](Case& c) {
              reshape(c, kK, {2, 6, 0, 64});
              reshape(c, kV, {2, 6, 0, 64});
            }),
       kRemainder, "candle-flash-attn-v3/src/lib.rs:102", true},
      {"FC-E415",
       with(fixed_call(Wrapper::kCandleFlashAttnV3),
            [](Case& c) {
              reshape(c, kK, {2, 6, 3, 64});
              reshape(c, kV, {2, 6, 3, 64});
            }),
       "number of k/v heads 3 must divide number of heads in query 8",
       "candle-flash-attn-v3/src/lib.rs:102-104"},
      {"FC-E701",
       with(fixed_alibi_call(Wrapper::kCandleFlashAttnV3),
            [](Case& c) { tensor(c, kAlibiSlopes).dtype = Dtype::kF16; }),
       "DType mismatch alibi_slopes F16, expected F32", "candle-flash-attn-v3/src/lib.rs:112-118"},
      {"FC-E204",
       with(fixed_alibi_call(Wrapper::kCandleFlashAttnV3),
            [](Case& c) {
              reshape(c, kAlibiSlopes, {1, 8});
            }),
       "unexpected rank, expected: 1, got: 2 ([1, 8])", "candle-flash-attn-v3/src/lib.rs:122"},
      {"FC-E702",
       with(fixed_alibi_call(Wrapper::kCandleFlashAttnV3),
            [](Case& c) { reshape(c, kAlibiSlopes, {4}); }),
       "shape mismatch alibi_slopes [4], expected 8", "candle-flash-attn-v3/src/lib.rs:122-128"},
      {"FC-E004",
       with(fixed_alibi_call(Wrapper::kCandleFlashAttnV3),
            [](Case& c) { tensor(c, kAlibiSlopes).device = kCpu; }),
       "alibi_slopes must be a cuda tensor", "candle-flash-attn-v3/src/lib.rs:130-133"},
      {"FC-E801",
       with(fixed_alibi_call(Wrapper::kCandleFlashAttnV3),
            [](Case& c) { tensor(c, kAlibiSlopes).offset = 9; }),
       kUnwrap, "candle-flash-attn-v3/src/lib.rs:135", true},
  };
}

}  // namespace flashcheck
