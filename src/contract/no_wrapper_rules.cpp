#include <algorithm>

#include "src/contract/rules.h"
#include "src/contract/text.h"

// A call that no wrapper guards still has to be a problem with one answer. These are the conditions
// of that, in flashcheck's own words.

namespace flashcheck {
namespace {

bool is_small(TensorName name) {
  return name != TensorName::kQ && name != TensorName::kK && name != TensorName::kV;
}

/// What the kernel reads the tensor as, in words.
std::string dtypes_of(const Call& call, TensorName name) {
  switch (name) {
    case TensorName::kQ:
      return "f16, bf16 or f32";
    case TensorName::kK:
    case TensorName::kV:
      return std::string(name_of(call.c.q().dtype));
    case TensorName::kAlibiSlopes:
      return "f32";
    case TensorName::kMmPrefixRanges:
      return "i32";
    default:
      return "u32 or i32";
  }
}

bool dtype_is_wrong(const Call& call, TensorName name) {
  const Dtype dtype = call.c.at(name).dtype;
  switch (name) {
    case TensorName::kQ:
      return dtype != Dtype::kF16 && dtype != Dtype::kBF16 && dtype != Dtype::kF32;
    case TensorName::kK:
    case TensorName::kV:
      return !dtype_is_wrong(call, TensorName::kQ) && dtype != call.c.q().dtype;
    case TensorName::kAlibiSlopes:
      return dtype != Dtype::kF32;
    case TensorName::kMmPrefixRanges:
      return dtype != Dtype::kI32;
    default:
      return dtype != Dtype::kU32 && dtype != Dtype::kI32;
  }
}

/// The dims that the other tensors leave free are kept as they came.
std::vector<int64_t> shape_wanted(const Call& call, TensorName name) {
  std::vector<int64_t> shape = call.c.at(name).shape;
  const int64_t batch = call.op.varlen ? call.batch_size().value_or(0) : call.c.q().shape[0];
  switch (name) {
    case TensorName::kK:
      shape.back() = call.head_dim();
      if (!call.op.varlen) shape[0] = batch;
      break;
    case TensorName::kV:
      shape = call.c.k().shape;
      break;
    case TensorName::kSeqlensQ:
      if (shape[0] < 2) shape[0] = 2;
      break;
    case TensorName::kSeqlensK:
      shape[0] = batch + 1;
      break;
    case TensorName::kBlockTable:
      shape[0] = std::max(shape[0], batch);
      break;
    case TensorName::kMmPrefixRanges:
      shape[0] = batch;
      shape[2] = 2;
      break;
    case TensorName::kAlibiSlopes:
      shape[0] = call.num_heads();
      break;
    default:
      break;
  }
  return shape;
}

bool shape_is_wrong(const Call& call, TensorName name) {
  if (!call.has_expected_rank(name) || !call.has_expected_rank(TensorName::kQ)) return false;
  if (name == TensorName::kV && !call.has_expected_rank(TensorName::kK)) return false;
  const bool needs_batch =
      is_small(name) && name != TensorName::kSeqlensQ && name != TensorName::kAlibiSlopes;
  if (needs_batch && !call.batch_size()) return false;
  return call.c.at(name).shape != shape_wanted(call, name);
}

std::string text_of(TensorName name) { return std::string(name_of(name)); }

}  // namespace

constinit const ContractRule kNoWrapperRank{
    .rule = {.code = "FC-E901",
             .name = "no-wrapper-rank",
             .message = "no wrapper: {tensor} has rank {rank}, the kernel reads rank {expected}",
             .why = "q, k and v are (batch, rows, heads, head_dim), or (rows, heads, head_dim) "
                    "with seqlens; paged k and v are (pages, rows, heads, head_dim).",
             .fix = "Reshape the tensor.",
             .source = "docs/case-format.md"},
    .fails = [](const Call& call, TensorName subject) { return !call.has_expected_rank(subject); },
    .facts =
        [](const Call& call, TensorName subject) {
          const TensorSpec& tensor = call.c.at(subject);
          return Facts{.where = pointer_to(subject, "shape"),
                       .args = {{"tensor", text_of(subject)},
                                {"rank", std::to_string(tensor.rank())},
                                {"expected", std::to_string(call.expected_rank(subject))}}};
        }};

constinit const ContractRule kNoWrapperDtype{
    .rule = {.code = "FC-E902",
             .name = "no-wrapper-dtype",
             .message = "no wrapper: {tensor} is {dtype}, the kernel reads {expected}",
             .why = "The kernel multiplies f16, bf16 or f32, q, k and v alike, and reads lengths "
                    "and tables as 32-bit integers.",
             .fix = "Convert the tensor before it is dumped.",
             .source = "docs/case-format.md"},
    .fails = dtype_is_wrong,
    .facts = [](const Call& call, TensorName subject) {
      return Facts{.where = pointer_to(subject, "dtype"),
                   .args = {{"tensor", text_of(subject)},
                            {"dtype", std::string(name_of(call.c.at(subject).dtype))},
                            {"expected", dtypes_of(call, subject)}}};
    }};

constinit const ContractRule kNoWrapperStride{
    .rule = {.code = "FC-E903",
             .name = "no-wrapper-last-dim",
             .message = "no wrapper: the last dim of {tensor} has stride {stride}, the kernel "
                        "reads neighbours",
             .why = "The kernel is told the other strides, and takes the last one for 1.",
             .fix = "Make the tensor contiguous before it is dumped.",
             .source = "docs/case-format.md"},
    .fails =
        [](const Call& call, TensorName subject) {
          const TensorSpec& tensor = call.c.at(subject);
          return call.has_expected_rank(subject) && tensor.shape.back() > 1 &&
                 tensor.strides.back() != 1;
        },
    .facts =
        [](const Call& call, TensorName subject) {
          return Facts{.where = pointer_to(subject, "strides"),
                       .args = {{"tensor", text_of(subject)},
                                {"stride", std::to_string(call.c.at(subject).strides.back())}}};
        }};

constinit const ContractRule kNoWrapperShape{
    .rule = {.code = "FC-E904",
             .name = "no-wrapper-shape",
             .message = "no wrapper: {tensor} is {shape}, the other tensors make it {expected}",
             .why = "k shares q's head_dim (and batch, with fixed lengths), v is shaped as k, "
                    "seqlens have batch + 1 entries, the block table a row and mm_prefix_ranges a "
                    "list of pairs a sequence, and every query head has one slope.",
             .fix = "Give the tensor the expected shape.",
             .source = "docs/case-format.md"},
    .fails = shape_is_wrong,
    .facts = [](const Call& call, TensorName subject) {
      return Facts{.where = pointer_to(subject, "shape"),
                   .args = {{"tensor", text_of(subject)},
                            {"shape", rust_list(call.c.at(subject).shape)},
                            {"expected", rust_list(shape_wanted(call, subject))}}};
    }};

constinit const ContractRule kNoWrapperHeadDim{
    .rule = {.code = "FC-E905",
             .name = "no-wrapper-head-dim",
             .message = "no wrapper: head_dim is {head_dim}, the kernel takes multiples of 8 from "
                        "8 to 512",
             .why = "The kernel's tiles are that wide.",
             .fix = "Pad the last dim of q, k and v with zeros and keep softmax_scale that of the "
                    "real size.",
             .source = "docs/case-format.md"},
    .fails =
        [](const Call& call, TensorName) {
          if (!call.has_expected_rank(TensorName::kQ)) return false;
          const int64_t head_dim = call.head_dim();
          return head_dim < 8 || head_dim > 512 || head_dim % 8 != 0;
        },
    .facts =
        [](const Call& call, TensorName) {
          return Facts{.where = pointer_to(TensorName::kQ, "shape"),
                       .args = {{"head_dim", std::to_string(call.head_dim())}}};
        }};

constinit const ContractRule kNoWrapperHeads{
    .rule = {.code = "FC-E906",
             .name = "no-wrapper-heads",
             .message = "no wrapper: {num_heads_k} k/v heads do not divide {num_heads} query heads",
             .why = "Query head h reads k/v head h / (heads / kv_heads).",
             .fix = "Choose a number of k/v heads that divides the number of query heads.",
             .source = "docs/case-format.md"},
    .fails =
        [](const Call& call, TensorName) {
          return call.has_expected_rank(TensorName::kQ) && call.has_expected_rank(TensorName::kK) &&
                 (call.num_heads_k() == 0 || call.num_heads() % call.num_heads_k() != 0);
        },
    .facts =
        [](const Call& call, TensorName) {
          return Facts{.where = pointer_to(TensorName::kK, "shape"),
                       .args = {{"num_heads_k", std::to_string(call.num_heads_k())},
                                {"num_heads", std::to_string(call.num_heads())}}};
        }};

constinit const ContractRule kNoWrapperPageBlockSize{
    .rule = {.code = "FC-E907",
             .name = "no-wrapper-page-block-size",
             .message = "no wrapper: page_block_size is {page_block_size}, the pages of k have "
                        "{rows} rows",
             .why = "Row i of a sequence is in page i / page_block_size, so that number is the "
                    "rows of a page, and at least 1. Without a wrapper it need not be a multiple "
                    "of 32.",
             .fix = "Pass axis 1 of k as page_block_size.",
             .source = "docs/case-format.md"},
    .fails =
        [](const Call& call, TensorName) {
          const int64_t page_block_size = call.c.args.page_block_size;
          return call.has_expected_rank(TensorName::kK) &&
                 (page_block_size < 1 || page_block_size != call.c.k().shape[1]);
        },
    .facts =
        [](const Call& call, TensorName) {
          return Facts{.where = "/args/page_block_size",
                       .args = {{"page_block_size", std::to_string(call.c.args.page_block_size)},
                                {"rows", std::to_string(call.c.k().shape[1])}}};
        }};

}  // namespace flashcheck
