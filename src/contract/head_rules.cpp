#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "src/contract/rules.h"
#include "src/contract/text.h"

namespace flashcheck {
namespace {

constexpr int64_t kMaxHeadDim = 512;
constexpr int64_t kV3HeadDims[] = {64, 128, 256, 512};

bool is_in_v3(int64_t head_dim) {
  return std::ranges::find(kV3HeadDims, head_dim) != std::end(kV3HeadDims);
}

Facts head_dim_facts(const Call& call, std::string fix) {
  return {.where = pointer_to(TensorName::kQ, "shape"),
          .args = {{"head_dim", std::to_string(call.head_dim())}},
          .fix = std::move(fix)};
}

/// Padding with zeros leaves q.k as it is; only a scale derived from the padded size would be
/// wrong.
std::string padding_fix(int64_t head_dim, int64_t padded) {
  return fmt::format(
      "Pad the last dim of q, k and v from {0} to {1}, `.pad_with_zeros(D::Minus1, 0, {2})?`, keep "
      "softmax_scale at 1/sqrt({0}) = {3:.6g}, and cut the output back: `.narrow(D::Minus1, 0, "
      "{0})?`.",
      head_dim, padded, padded - head_dim, 1 / std::sqrt(static_cast<double>(head_dim)));
}

Facts head_dim_over_512(const Call& call, TensorName) {
  const int64_t head_dim = call.head_dim();
  if (head_dim == 576) {
    return head_dim_facts(call,
                          "576 = 512 + 64 looks like a latent (MLA) cache: expand it to the "
                          "per-head keys and values, or use an MLA kernel; 512 is the most here.");
  }
  return head_dim_facts(
      call, fmt::format("512 is the most, {0} is asked for. If {0} is heads x head_dim in one dim, "
                        "reshape it to (…, heads, head_dim); otherwise use matmul, softmax, "
                        "matmul.",
                        head_dim));
}

Facts head_dim_not_in_v3(const Call& call, TensorName) {
  const int64_t head_dim = call.head_dim();
  if (head_dim == 0) return head_dim_facts(call, "q's last dim is 0: look at how q was cut.");
  const int64_t padded = *std::ranges::lower_bound(kV3HeadDims, head_dim);
  std::string fix = padding_fix(head_dim, padded);
  if (head_dim % 8 == 0) {
    fix += fmt::format(" candle-flash-attn (v2) takes {} as it is.", head_dim);
  }
  return head_dim_facts(call, std::move(fix));
}

Facts head_dim_not_multiple_of_8(const Call& call, TensorName) {
  const int64_t head_dim = call.head_dim();
  return head_dim_facts(call, padding_fix(head_dim, (head_dim + 7) / 8 * 8));
}

bool heads_are_known(const Call& call) {
  return call.has_expected_rank(TensorName::kQ) && call.has_expected_rank(TensorName::kK);
}

/// The divisors of num_heads next below and next above num_heads_k.
std::vector<int64_t> nearest_divisors(int64_t num_heads, int64_t num_heads_k) {
  std::vector<int64_t> nearest;
  for (int64_t k = std::min(num_heads, num_heads_k); k >= 1 && nearest.empty(); --k) {
    if (num_heads % k == 0) nearest.push_back(k);
  }
  for (int64_t k = num_heads_k + 1; k <= num_heads; ++k) {
    if (num_heads % k != 0) continue;
    nearest.push_back(k);
    break;
  }
  return nearest;
}

/// Whether k is (…, heads, rows, head_dim): its heads axis has q's rows, and its rows axis a number
/// of heads that q's is a multiple of.
bool heads_come_before_rows(const Call& call) {
  if (call.op.paged) return false;
  const std::vector<int64_t>& q = call.c.q().shape;
  const std::vector<int64_t>& k = call.c.k().shape;
  const int64_t heads = k[k.size() - 3];
  return call.num_heads_k() == q[q.size() - 3] && heads > 0 && call.num_heads() % heads == 0;
}

void exchange_heads_and_rows(const Call& call, Facts& facts) {
  const std::vector<int64_t>& k = call.c.k().shape;
  const size_t heads = k.size() - 3, rows = k.size() - 2;
  const bool v_is_alike = call.c.v().shape == k;
  facts.fix = fmt::format(
      "Axis {1} of k is {3}, the rows of q, and axis {0} is {2}, a divisor of q's {4} heads: heads "
      "and rows are exchanged. `k.transpose({0}, {1})?` gives {5}{6}; no copy is needed.",
      heads, rows, k[heads], k[rows], call.num_heads(), rust_list(transposed(k, heads, rows)),
      v_is_alike ? ", v likewise" : "");
  facts.transposes = {{TensorName::kK, heads, rows}};
  if (v_is_alike) facts.transposes.push_back({TensorName::kV, heads, rows});
}

Facts kv_heads_do_not_divide(const Call& call, TensorName) {
  const int64_t num_heads = call.num_heads();
  const int64_t num_heads_k = call.num_heads_k();
  Facts facts{.where = pointer_to(TensorName::kK, "shape"),
              .args = {{"num_heads_k", std::to_string(num_heads_k)},
                       {"num_heads", std::to_string(num_heads)}}};
  if (heads_come_before_rows(call)) {
    exchange_heads_and_rows(call, facts);
    return facts;
  }
  // An absurd head count is not worth a search.
  constexpr int64_t kSearched = 1 << 12;
  if (num_heads_k > num_heads && num_heads_k % num_heads == 0) {
    facts.fix =
        fmt::format("k and v have {} heads, q {}: q and k look exchanged, or q lacks heads.",
                    num_heads_k, num_heads);
  } else if (num_heads <= kSearched) {
    facts.fix = fmt::format(
        "k and v have {} heads, q {}: use {} k/v heads, the nearest that divide {}.", num_heads_k,
        num_heads, either(nearest_divisors(num_heads, num_heads_k)), num_heads);
  }
  const std::vector<int64_t>& k = call.c.k().shape;
  const size_t row_axis = k.size() - 3;
  const int64_t rows = k[row_axis];
  if (rows > 1 && rows <= num_heads && num_heads % rows == 0) {
    facts.fix += fmt::format(
        " If axis {0} of k ({1}) is the heads, axes {0} and {2} are exchanged: `k.transpose({0}, "
        "{2})?`, v likewise.",
        row_axis, rows, row_axis + 1);
  }
  return facts;
}

}  // namespace

constinit const ContractRule kHeadDimOver512{
    .rule = {.code = "FC-E411",
             .name = "head-dim-over-512",
             .message = "only supports head dimension at most 512 (got {head_dim})",
             .why = "A tile of q, k and v has to fit in shared memory; the largest kernel is built "
                    "for 512.",
             .fix = "Split the heads, or use matmul, softmax, matmul.",
             .source = "candle-flash-attn/src/lib.rs:79-81, 597-599"},
    .fails =
        [](const Call& call, TensorName) {
          return call.has_expected_rank(TensorName::kQ) && call.head_dim() > kMaxHeadDim;
        },
    .facts = head_dim_over_512};

constinit const ContractRule kPagedHeadDimOver512{
    .rule = {.code = "FC-E412",
             .name = "paged-head-dim-over-512",
             .message = "paged flash-attn supports head sizes up to 512 (got {head_dim})",
             .why = "A tile of q, k and v has to fit in shared memory; the largest paged kernel is "
                    "built for 512.",
             .fix = "Split the heads, or gather the pages and use matmul, softmax, matmul.",
             .source = "candle-flash-attn/src/lib.rs:582-584"},
    .fails =
        [](const Call& call, TensorName) {
          return call.has_expected_rank(TensorName::kQ) && call.head_dim() > kMaxHeadDim;
        },
    .facts = head_dim_over_512};

constinit const ContractRule kHeadDimNotInV3{
    .rule = {.code = "FC-E413",
             .name = "head-dim-not-in-v3",
             .message = "only supports head dimension 64, 128, 256 and 512 (got {head_dim})",
             .why = "The Hopper kernels are built for these four sizes alone. (A size that is not "
                    "a multiple of 8 is refused here too, before the check for that.)",
             .fix = "Pad the head dim to the next of the four and keep softmax_scale that of the "
                    "real size, or call candle-flash-attn.",
             .source = "candle-flash-attn-v3/src/lib.rs:91-97, 525-531"},
    .fails =
        [](const Call& call, TensorName) {
          return call.has_expected_rank(TensorName::kQ) && call.head_dim() <= kMaxHeadDim &&
                 !is_in_v3(call.head_dim());
        },
    .facts = head_dim_not_in_v3};

constinit const ContractRule kHeadDimNotMultipleOf8{
    .rule = {.code = "FC-E414",
             .name = "head-dim-not-multiple-of-8",
             .message = "only supports head sizes that are a multiple of 8 (got {head_dim})",
             .why = "Rows are loaded 16 bytes at a time, which is 8 elements of f16 or bf16; the "
                    "wrapper does not pad.",
             .fix = "Pad the head dim to a multiple of 8 with zeros and keep softmax_scale that of "
                    "the real size.",
             .source = "candle-flash-attn/src/lib.rs:82-85, 600-603"},
    .fails =
        [](const Call& call, TensorName) {
          return call.has_expected_rank(TensorName::kQ) && call.head_dim() <= kMaxHeadDim &&
                 call.head_dim() % 8 != 0;
        },
    .facts = head_dim_not_multiple_of_8};

constinit const ContractRule kKvHeadsDoNotDivide{
    .rule = {.code = "FC-E415",
             .name = "kv-heads-do-not-divide",
             .message = "number of k/v heads {num_heads_k} must divide number of heads in query "
                        "{num_heads}",
             .why = "Query head h reads k/v head h / (heads / kv_heads): equal, contiguous groups. "
                    "candle's doc comment states the rule the wrong way round.",
             .fix = "Choose a number of k/v heads that divides the number of query heads.",
             .source = "candle-flash-attn/src/lib.rs:86-88, 604-606"},
    .fails =
        [](const Call& call, TensorName) {
          return heads_are_known(call) && call.num_heads_k() > 0 &&
                 call.num_heads() % call.num_heads_k() != 0;
        },
    .facts = kv_heads_do_not_divide};

constinit const ContractRule kNoKvHeads{
    .rule = {.code = "FC-E416",
             .name = "no-kv-heads",
             .message = "attempt to calculate the remainder with a divisor of zero",
             .why = "k has 0 heads, and the wrapper takes the number of query heads modulo that. "
                    "It is a panic, not an Err.",
             .fix = "Look at how k was cut: its heads axis is empty.",
             .source = "candle-flash-attn/src/lib.rs:86, 604"},
    .panics = true,
    .fails = [](const Call& call,
                TensorName) { return heads_are_known(call) && call.num_heads_k() == 0; },
    .facts =
        [](const Call& call, TensorName) {
          const std::vector<int64_t>& k = call.c.k().shape;
          return Facts{.where = pointer_to(TensorName::kK, "shape"),
                       .fix = fmt::format("k is {}: axis {}, the heads, is empty. Look at the "
                                          "narrow, chunk or split that made it.",
                                          rust_list(k), k.size() - 2)};
        }};

}  // namespace flashcheck
