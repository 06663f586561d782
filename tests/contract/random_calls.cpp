#include "tests/contract/random_calls.h"

#include "tests/contract/calls.h"

namespace flashcheck {
namespace {

int64_t between(std::mt19937_64& rng, int64_t low, int64_t high) {
  return std::uniform_int_distribution<int64_t>(low, high)(rng);
}

template <typename T>
T pick(std::mt19937_64& rng, std::initializer_list<T> values) {
  return values.begin()[between(rng, 0, static_cast<int64_t>(values.size()) - 1)];
}

std::optional<int64_t> random_window(std::mt19937_64& rng, int64_t seqlen_k) {
  const int64_t window = pick<int64_t>(rng, {-1, 0, 1, 3, seqlen_k, seqlen_k + 1, 4096});
  return window < 0 ? std::nullopt : std::optional(window);
}

/// A tensor that the call has.
TensorName pick_tensor(const Case& c, std::mt19937_64& rng) {
  while (true) {
    const auto name = static_cast<TensorName>(between(rng, 0, kNumTensors - 1));
    if (c.find(name)) return name;
  }
}

/// Only what a loader lets through: products and reaches that fit.
bool is_loadable(const TensorSpec& tensor) {
  const std::optional<int64_t> span = tensor.span();
  return tensor.num_elements() && span && *span <= INT64_MAX - tensor.offset;
}

void change_shape(Case& c, TensorName name, std::mt19937_64& rng) {
  TensorSpec& t = tensor(c, name);
  const TensorSpec before = t;
  std::vector<int64_t> shape = t.shape;
  switch (between(rng, 0, 3)) {
    case 0: {
      const int64_t axis = between(rng, 0, t.rank());
      shape.insert(shape.begin() + axis, pick<int64_t>(rng, {1, 2, 0}));
      break;
    }
    case 1:
      if (!shape.empty()) shape.erase(shape.begin() + between(rng, 0, t.rank() - 1));
      break;
    default:
      if (!shape.empty()) {
        const auto axis = static_cast<size_t>(between(rng, 0, t.rank() - 1));
        shape[axis] =
            pick<int64_t>(rng, {0, 1, 2, 3, 7, 8, 16, 33, 100, 520, 1024, int64_t{1} << 33});
      }
  }
  const auto strides = contiguous_strides(shape);
  if (!strides) return;
  t.shape = shape;
  t.strides = *strides;
  if (!is_loadable(t)) t = before;
}

void change_strides(Case& c, TensorName name, std::mt19937_64& rng) {
  TensorSpec& t = tensor(c, name);
  if (t.rank() == 0) return;
  const TensorSpec before = t;
  const auto axis = static_cast<size_t>(between(rng, 0, t.rank() - 1));
  const auto other = static_cast<size_t>(between(rng, 0, t.rank() - 1));
  if (between(rng, 0, 1) == 0) {
    std::swap(t.shape[axis], t.shape[other]);
    std::swap(t.strides[axis], t.strides[other]);
  } else {
    t.strides[axis] = pick<int64_t>(rng, {0, 1, 2, 7, 64, int64_t{1} << 32});
  }
  if (!is_loadable(t)) t = before;
}

void change_args(Case& c, std::mt19937_64& rng) {
  const int64_t huge = int64_t{1} << 40;
  switch (between(rng, 0, 4)) {
    case 0:
      c.args.page_block_size = pick<int64_t>(rng, {0, 1, 16, 32, 64, huge});
      break;
    case 1:
      c.args.max_seqlen_k = pick<int64_t>(rng, {0, 1, 5, INT32_MAX, huge, INT64_MAX});
      break;
    case 2:
      c.args.max_seqlen_q = pick<int64_t>(rng, {0, 1, 5, huge, INT64_MAX});
      break;
    case 3:
      c.args.window_size_left = random_window(rng, c.args.max_seqlen_k & 0xFFFF);
      break;
    default:
      c.args.window_size_right = random_window(rng, c.args.max_seqlen_k & 0xFFFF);
  }
}

}  // namespace

Case random_accepted_call(std::mt19937_64& rng) {
  const std::span<const WrapperFunction> functions = wrapper_functions();
  const WrapperFunction& function =
      functions[static_cast<size_t>(between(rng, 0, static_cast<int64_t>(functions.size()) - 1))];
  const int64_t head_dim = pick<int64_t>(rng, {64, 128, 256, 512});
  const int64_t num_heads_k = between(rng, 1, 4);
  const int64_t num_heads = num_heads_k * pick<int64_t>(rng, {1, 2, 3, 4});
  const int64_t batch = between(rng, 1, 5);
  const int64_t seqlen_q = between(rng, 1, 70);
  const int64_t seqlen_k = between(rng, 1, 140);
  const Dtype dtype = pick(rng, {Dtype::kF16, Dtype::kBF16});

  Case c;
  c.function = &function;
  c.args.causal = !function.windowed && between(rng, 0, 1);
  if (function.windowed) {
    c.args.window_size_left = random_window(rng, seqlen_k);
    c.args.window_size_right = random_window(rng, seqlen_k);
  }
  c.args.use_gqa_packing = function.has_gqa_packing && between(rng, 0, 1);
  if (function.varlen) {
    put(c, TensorName::kQ, dtype, {batch * seqlen_q, num_heads, head_dim});
    put(c, TensorName::kSeqlensQ, Dtype::kU32, {batch + 1});
    put(c, TensorName::kSeqlensK, Dtype::kU32, {batch + 1});
    c.args.max_seqlen_q = seqlen_q;
    c.args.max_seqlen_k = seqlen_k;
  } else {
    put(c, TensorName::kQ, dtype, {batch, seqlen_q, num_heads, head_dim});
  }
  std::vector<int64_t> kv{batch, seqlen_k, num_heads_k, head_dim};
  if (function.paged) {
    c.args.page_block_size = pick<int64_t>(rng, {32, 64, 96});
    kv = {batch * 5, c.args.page_block_size, num_heads_k, head_dim};
    put(c, TensorName::kBlockTable, pick(rng, {Dtype::kU32, Dtype::kI32}), {batch, 5});
    if (between(rng, 0, 1)) put(c, TensorName::kMmPrefixRanges, Dtype::kI32, {batch, 2, 2});
  } else if (function.varlen) {
    kv = {batch * seqlen_k, num_heads_k, head_dim};
  }
  put(c, TensorName::kK, dtype, kv);
  put(c, TensorName::kV, dtype, kv);
  const bool has_slopes = function.alibi == Presence::kRequired ||
                          (function.alibi == Presence::kOptional && between(rng, 0, 1));
  if (has_slopes) put(c, TensorName::kAlibiSlopes, Dtype::kF32, {num_heads});
  return c;
}

void change_at_random(Case& c, std::mt19937_64& rng) {
  const TensorName name = pick_tensor(c, rng);
  TensorSpec& t = tensor(c, name);
  switch (between(rng, 0, 8)) {
    case 0:
    case 1:
    case 2:
      return change_shape(c, name, rng);
    case 3:
    case 4:
      return change_strides(c, name, rng);
    case 5:
      t.dtype = static_cast<Dtype>(between(rng, 0, static_cast<int>(Dtype::kF8E4M3)));
      return;
    case 6:
      t.device = pick(rng, {kCpu, kOtherGpu, Device{Device::Kind::kMetal, 0}});
      return;
    case 7:
      t.offset = pick<int64_t>(rng, {1, 8, 64, 1 << 20});
      return;
    default:
      return change_args(c, rng);
  }
}

}  // namespace flashcheck
