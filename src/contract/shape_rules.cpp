#include <fmt/format.h>

#include "src/contract/rules.h"
#include "src/contract/text.h"
#include "src/spec/checked.h"

namespace flashcheck {
namespace {

using Shape = std::vector<int64_t>;

bool ranks_are_right(const Call& call) {
  return call.has_expected_rank(TensorName::kQ) && call.has_expected_rank(TensorName::kK) &&
         call.has_expected_rank(TensorName::kV);
}

/// k's shape with what q prescribes of it: the head_dim, and the batch of a fixed-length call.
Shape expected_kv(const Call& call) {
  Shape shape = call.c.k().shape;
  shape.back() = call.head_dim();
  if (!call.op.varlen) shape[0] = call.c.q().shape[0];
  return shape;
}

/// The axis whose exchange with the next one makes `shape` the expected one.
std::optional<size_t> swapped_axis(const Shape& shape, const Shape& expected) {
  for (size_t axis = 0; axis + 1 < shape.size(); ++axis) {
    if (transposed(shape, axis, axis + 1) == expected) return axis;
  }
  return std::nullopt;
}

/// What to do about an axis of v that is not as k's.
std::string_view advice(bool paged, std::string_view axis) {
  if (axis == "rows") return "Append to the caches of k and v together.";
  if (axis == "heads") return "Give k and v the same number of heads.";
  if (axis == "head_dim") {
    return "Pad the narrower one with zeros and cut the output back: a value width of its own is "
           "not supported.";
  }
  return paged ? "Allocate both pools alike." : "Give k and v one batch.";
}

Facts value_shape(const Call& call, const Shape& expected, std::vector<FindingArg> args) {
  const Shape& shape = call.c.v().shape;
  Facts facts{.where = pointer_to(TensorName::kV, "shape"), .args = std::move(args)};
  if (const std::optional<size_t> axis = swapped_axis(shape, expected)) {
    facts.fix = fmt::format(
        "Axes {0} and {1} of v look exchanged: `v.transpose({0}, {1})?` gives {2}{3}.", *axis,
        *axis + 1, rust_list(expected),
        *axis + 2 == shape.size() ? ", `.contiguous()?` then puts its last dim in order" : "");
    return facts;
  }
  for (size_t i = 0; i < shape.size(); ++i) {
    if (shape[i] == expected[i]) continue;
    const std::string_view axis =
        axis_name(call.op.paged, static_cast<int>(shape.size()), static_cast<int>(i));
    facts.fix +=
        fmt::format("{}Axis {} ({}): v has {}, {} is wanted. {}", facts.fix.empty() ? "" : " ", i,
                    axis, shape[i], expected[i], advice(call.op.paged, axis));
  }
  return facts;
}

std::string batch_fix(const Call& call) {
  const Shape& k = call.c.k().shape;
  const int64_t batch = call.c.q().shape[0];
  if (k[0] == 1) {
    const bool is_v3 = call.op.wrapper == Wrapper::kCandleFlashAttnV3;
    return fmt::format("k has batch 1, q has {0}: {1}, v likewise.", batch,
                       is_v3 ? fmt::format("`k.repeat(({}, 1, 1, 1))?`", batch)
                             : fmt::format("`k.expand(({}, {}, {}, {}))?` shares it without a copy",
                                           batch, k[1], k[2], k[3]));
  }
  if (batch == 1) {
    return fmt::format(
        "q has batch 1, k has {}: pick the sequence, `k.narrow(0, i, 1)?`, v "
        "likewise.",
        k[0]);
  }
  return fmt::format("q has batch {}, k has {}: pass the cache of the same {} sequences.", batch,
                     k[0], batch);
}

/// The axis of rows or heads, the latter first, that has a size.
std::optional<size_t> axis_of_size(const Shape& shape, int64_t size) {
  for (const size_t axis : {shape.size() - 2, shape.size() - 3}) {
    if (shape[axis] == size) return axis;
  }
  return std::nullopt;
}

bool may_be_head_dim(int64_t size) { return size >= 8 && size <= 512 && size % 8 == 0; }

/// The axis of q that holds k's head_dim, where q and not k is the transposed one.
std::optional<size_t> head_dim_axis_of_q(const Call& call) {
  const Shape& q = call.c.q().shape;
  const Shape& k = call.c.k().shape;
  if (!may_be_head_dim(k.back())) return std::nullopt;
  const std::optional<size_t> axis = axis_of_size(q, k.back());
  const bool is_two_to_one = call.c.v().shape == k && axis == q.size() - 2;
  return may_be_head_dim(q.back()) && !is_two_to_one ? std::nullopt : axis;
}

/// The axis of k that holds q's head_dim, where that is one as good as k's.
std::optional<size_t> head_dim_axis_of_k(const Call& call) {
  const int64_t head_dim = call.head_dim();
  return may_be_head_dim(head_dim) ? axis_of_size(call.c.k().shape, head_dim) : std::nullopt;
}

/// "`q.transpose(2, 3)?.contiguous()?` gives [1, 32, 17, 128]".
std::string last_dim_from(std::string_view name, const Shape& shape, size_t axis) {
  return fmt::format("`{}.transpose({}, {})?.contiguous()?` gives {}", name, axis, shape.size() - 1,
                     rust_list(transposed(shape, axis, shape.size() - 1)));
}

std::string query_head_dim_fix(const Call& call, size_t axis) {
  const Shape& q = call.c.q().shape;
  const Shape& k = call.c.k().shape;
  std::string fix = fmt::format("q's last dim is {}, {} is {}, and axis {} of q has that size: {}.",
                                q.back(), call.c.v().shape == k ? "k's and v's" : "k's", k.back(),
                                axis, last_dim_from("q", q, axis));
  if (const std::optional<size_t> axis_of_k = head_dim_axis_of_k(call)) {
    fix += fmt::format(" If {} is the head_dim: {}, v likewise.", q.back(),
                       last_dim_from("k", k, *axis_of_k));
  }
  return fix;
}

std::string head_dim_fix(const Call& call) {
  const Shape& k = call.c.k().shape;
  const int64_t head_dim = call.head_dim();
  if (const std::optional<size_t> axis = axis_of_size(k, head_dim)) {
    return fmt::format(
        "k's last dim is {}, q's head_dim is {}, and axis {} of k has that size: {}.", k.back(),
        head_dim, *axis, last_dim_from("k", k, *axis));
  }
  std::string fix = fmt::format("k's head_dim is {}, q's is {}: project both to one head_dim",
                                k.back(), head_dim);
  const bool may_be_folded = head_dim >= 8 && k.back() > head_dim && k.back() % head_dim == 0;
  const int64_t folded = may_be_folded ? k.back() / head_dim : 1;
  const std::optional<int64_t> heads = checked_mul(k[k.size() - 2], folded);
  if (may_be_folded && heads) {
    std::vector<int64_t> split = k;
    split.back() = head_dim;
    split[split.size() - 2] = *heads;
    fix += fmt::format(", or, if k's last dim holds {} heads of {}, split them off: {}", folded,
                       head_dim, rust_list(split));
  }
  return fix + ".";
}

Facts query_and_key_shapes(const Call& call, TensorName) {
  const Shape& q = call.c.q().shape;
  const Shape& k = call.c.k().shape;
  Facts facts{.where = pointer_to(TensorName::kK, "shape"),
              .args = {{"q_shape", rust_list(q)}, {"k_shape", rust_list(k)}}};
  if (!call.op.varlen && k[0] != q[0]) facts.fix = batch_fix(call);
  if (k.back() == q.back()) return facts;
  if (!facts.fix.empty()) facts.fix += ' ';
  if (const std::optional<size_t> axis = head_dim_axis_of_q(call)) {
    facts.where = pointer_to(TensorName::kQ, "shape");
    facts.fix += query_head_dim_fix(call, *axis);
    if (!head_dim_axis_of_k(call)) facts.transposes = {{TensorName::kQ, *axis, q.size() - 1}};
  } else {
    facts.fix += head_dim_fix(call);
  }
  return facts;
}

}  // namespace

constinit const ContractRule kQueryAndKeyShapesDisagree{
    .rule = {.code = "FC-E401",
             .name = "query-and-key-shapes-disagree",
             .message = "shape mismatch q {q_shape} and k {k_shape}",
             .why = "q and k are multiplied along head_dim, and with fixed lengths batch by batch: "
                    "these dims must be equal. Rows and heads may differ; the message prints them "
                    "all the same.",
             .fix = "Give k q's head_dim, and in a fixed-length call q's batch.",
             .source = "candle-flash-attn/src/lib.rs:72-75, 565-567, 588-591"},
    .fails =
        [](const Call& call, TensorName) {
          return call.has_expected_rank(TensorName::kQ) && call.has_expected_rank(TensorName::kK) &&
                 call.c.k().shape != expected_kv(call);
        },
    .facts = query_and_key_shapes};

constinit const ContractRule kQueryAndValueShapesDisagree{
    .rule = {.code = "FC-E402",
             .name = "query-and-value-shapes-disagree",
             .message = "shape mismatch q {q_shape} and v {v_shape}",
             .why = "v must have k's shape in every dim. The message shows q and v, but the dim "
                    "that differs is one between k and v: k has passed the comparison with q by "
                    "now.",
             .fix = "Give v the shape of k.",
             .source = "candle-flash-attn/src/lib.rs:76-78, 592-594"},
    .fails =
        [](const Call& call, TensorName) {
          // A v that is as wrong as k is k's fault seen twice.
          const Shape& shape = call.c.v().shape;
          return ranks_are_right(call) && shape != call.c.k().shape && shape != expected_kv(call);
        },
    .facts =
        [](const Call& call, TensorName) {
          return value_shape(
              call, expected_kv(call),
              {{"q_shape", rust_list(call.c.q().shape)}, {"v_shape", rust_list(call.c.v().shape)}});
        }};

constinit const ContractRule kKeyAndValueShapesDisagree{
    .rule = {.code = "FC-E403",
             .name = "key-and-value-pools-disagree",
             .message = "shape mismatch k {k_shape} and v {v_shape}",
             .why = "One block table serves both pools: a page number must mean the same place in "
                    "k and in v, so their shapes are equal. Their strides and storages may differ.",
             .fix = "Allocate the pools of k and v with the same shape.",
             .source = "candle-flash-attn/src/lib.rs:561-564"},
    .fails =
        [](const Call& call, TensorName) {
          return call.has_expected_rank(TensorName::kK) && call.has_expected_rank(TensorName::kV) &&
                 call.c.v().shape != call.c.k().shape;
        },
    .facts =
        [](const Call& call, TensorName) {
          return value_shape(
              call, call.c.k().shape,
              {{"k_shape", rust_list(call.c.k().shape)}, {"v_shape", rust_list(call.c.v().shape)}});
        }};

}  // namespace flashcheck
