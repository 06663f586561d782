#include <fmt/format.h>

#include "src/contract/rules.h"
#include "src/contract/text.h"

namespace flashcheck {
namespace {

bool is_half(Dtype dtype) { return dtype == Dtype::kF16 || dtype == Dtype::kBF16; }

Facts query_dtype_unsupported(const Call& call, TensorName) {
  const Dtype dtype = call.c.q().dtype;
  Facts facts{
      .where = pointer_to(TensorName::kQ, "dtype"),
      .args = {{"op", std::string(call.op.family)}, {"dtype", std::string(rust_name_of(dtype))}}};
  if (!is_floating(dtype)) {
    facts.fix = fmt::format(
        "q holds {}: attention takes the projected queries, not token ids or quantised weights. "
        "Pass the output of the q projection in f16 or bf16.",
        name_of(dtype));
  } else if (size_in_bytes(dtype) == 1) {
    facts.fix = fmt::format("Dequantise first: flash-attn has no kernel for {}. Then pass bf16.",
                            name_of(dtype));
  } else {
    facts.fix = fmt::format(
        "Convert all three: `let q = q.to_dtype(DType::BF16)?;`, and k and v likewise. bf16 keeps "
        "the range of {}; f16 is more precise and ends at 65504.",
        name_of(dtype));
  }
  return facts;
}

Facts seqlens_not_u32(const Call& call, TensorName subject) {
  const std::string_view name = name_of(subject);
  const Dtype dtype = call.c.at(subject).dtype;
  Facts facts{.where = pointer_to(subject, "dtype"),
              .args = {{"got", std::string(rust_name_of(dtype))}},
              .fix = fmt::format("`let {0} = {0}.to_dtype(DType::U32)?;`.", name)};
  if (dtype == Dtype::kI32) {
    facts.fix +=
        " I32 is what PyTorch's wrapper takes; candle wants U32, and its kernel reads the "
        "same bits.";
  }
  return facts;
}

Facts dtype_differs_from_query(const Call& call, TensorName subject) {
  const Dtype expected = call.c.q().dtype;
  const Dtype got = call.c.at(subject).dtype;
  const std::string_view name = name_of(subject);
  Facts facts{.where = pointer_to(subject, "dtype"),
              .args = {{"expected", std::string(rust_name_of(expected))},
                       {"got", std::string(rust_name_of(got))}}};
  facts.fix = fmt::format("{0} is {1}, q is {2}: `let {0} = {0}.to_dtype({3})?;`", name,
                          name_of(got), name_of(expected), rust_path(expected));
  if (call.c.k().dtype == call.c.v().dtype && is_half(got)) {
    facts.fix += fmt::format(", or convert q, since k and v are both {}", name_of(got));
  }
  facts.fix += ".";
  return facts;
}

Facts table_dtype(const Call& call, TensorName subject, Dtype wanted) {
  const Dtype dtype = call.c.at(subject).dtype;
  return {.where = pointer_to(subject, "dtype"),
          .args = {{"dtype", std::string(rust_name_of(dtype))}},
          .fix = fmt::format("{0} is {1}: `let {0} = {0}.to_dtype({2})?;`.", name_of(subject),
                             name_of(dtype), rust_path(wanted))};
}

}  // namespace

constinit const ContractRule kQueryDtypeUnsupported{
    .rule = {.code = "FC-E101",
             .name = "query-dtype-unsupported",
             .message = "{op} is only supported for f16/bf16 ({dtype})",
             .why = "Kernels are compiled for f16 and bf16 alone: the tensor cores they are "
                    "written for multiply 16-bit numbers. q's dtype picks the kernel.",
             .fix = "Convert q, k and v to bf16 or f16: `.to_dtype(DType::BF16)?`.",
             .source = "candle-flash-attn/src/lib.rs:252"},
    .fails = [](const Call& call, TensorName) { return !is_half(call.c.q().dtype); },
    .facts = query_dtype_unsupported};

constinit const ContractRule kSeqlensNotU32{
    .rule = {.code = "FC-E102",
             .name = "seqlens-not-u32",
             .message = "unexpected dtype, expected: U32, got: {got}",
             .why = "candle takes cumulative lengths as U32 only. The message does not say which "
                    "tensor it means: seqlens_q is looked at first, then seqlens_k, both before "
                    "any shape.",
             .fix = "`.to_dtype(DType::U32)?`, or build the tensor from a `Vec<u32>`.",
             .source = "candle-flash-attn/src/lib.rs:483, 493"},
    .fails =
        [](const Call& call, TensorName subject) {
          // Elsewhere the device check speaks, whatever the dtype.
          const TensorSpec& seqlens = call.c.at(subject);
          return seqlens.device.is_cuda() && seqlens.dtype != Dtype::kU32;
        },
    .facts = seqlens_not_u32};

constinit const ContractRule kDtypeDiffersFromQuery{
    .rule = {.code = "FC-E103",
             .name = "dtype-differs-from-query",
             .message = "unexpected dtype, expected: {expected}, got: {got}",
             .why = "One kernel reads q, k and v, so all three have one dtype. `expected` is q's; "
                    "the message does not say whether k or v differs. A cache kept in another "
                    "precision than the activations gets here.",
             .fix = "Convert k and v to q's dtype: `.to_dtype(q.dtype())?`.",
             .source = "candle-core/src/cuda_backend/mod.rs:1245"},
    .fails =
        [](const Call& call, TensorName subject) {
          const Dtype expected = call.c.q().dtype;
          return is_half(expected) && call.c.at(subject).dtype != expected;
        },
    .facts = dtype_differs_from_query};

constinit const ContractRule kBlockTableNotInteger{
    .rule = {.code = "FC-E104",
             .name = "block-table-not-u32-or-i32",
             .message = "block_table must be u32 or i32, got {dtype}",
             .why = "The kernel reads page numbers as 32-bit integers. This is the last check of "
                    "all: with a wrong dtype every other complaint comes first.",
             .fix = "`let block_table = block_table.to_dtype(DType::U32)?;`.",
             .source = "candle-flash-attn/src/lib.rs:749-751"},
    .fails =
        [](const Call& call, TensorName subject) {
          const Dtype dtype = call.c.at(subject).dtype;
          return dtype != Dtype::kU32 && dtype != Dtype::kI32;
        },
    .facts = [](const Call& call,
                TensorName subject) { return table_dtype(call, subject, Dtype::kU32); }};

constinit const ContractRule kPrefixRangesNotI32{
    .rule = {.code = "FC-E105",
             .name = "mm-prefix-ranges-not-i32",
             .message = "mm_prefix_ranges must be i32, got {dtype}",
             .why = "The kernel reads the ranges as pairs of 32-bit signed integers.",
             .fix = "`let mm_prefix_ranges = mm_prefix_ranges.to_dtype(DType::I32)?;`.",
             .source = "candle-flash-attn/src/lib.rs:620-625"},
    .fails = [](const Call& call,
                TensorName subject) { return call.c.at(subject).dtype != Dtype::kI32; },
    .facts = [](const Call& call,
                TensorName subject) { return table_dtype(call, subject, Dtype::kI32); }};

}  // namespace flashcheck
