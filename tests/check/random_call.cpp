#include "tests/check/random_call.h"

#include <algorithm>
#include <array>
#include <memory>
#include <numeric>
#include <utility>
#include <vector>

using namespace flashcheck;

namespace {

class Builder {
 public:
  explicit Builder(std::mt19937_64& random) : random_(random) {}

  Case build() {
    choose_function();
    choose_sizes();
    add_data_tensors();
    if (c_.function->varlen) add_lengths();
    if (c_.function->paged) add_pages();
    if (c_.function->alibi != Presence::kAbsent) add_slopes();
    choose_args();
    return std::move(c_);
  }

 private:
  int64_t between(int64_t low, int64_t high) {
    return std::uniform_int_distribution<int64_t>(low, high)(random_);
  }
  bool chance(int percent) { return between(1, 100) <= percent; }
  template <size_t n>
  int64_t one_of(const std::array<int64_t, n>& values) {
    return values[static_cast<size_t>(between(0, static_cast<int64_t>(n) - 1))];
  }

  void choose_function() {
    const auto functions = wrapper_functions();
    c_.function =
        &functions[static_cast<size_t>(between(0, static_cast<int64_t>(functions.size()) - 1))];
    c_.id = "random";
    c_.seed = random_();
  }

  void choose_sizes() {
    const bool is_v3 = c_.function->wrapper == Wrapper::kCandleFlashAttnV3;
    const bool has_no_wrapper = c_.function->wrapper == Wrapper::kNone;
    dtype_ = has_no_wrapper && chance(40) ? Dtype::kF32 : chance(50) ? Dtype::kF16 : Dtype::kBF16;
    head_dim_ =
        is_v3 ? one_of<3>({64, 128, 256}) : 8 * (chance(90) ? between(1, 20) : between(21, 64));
    heads_k_ = between(1, 3);
    heads_ = heads_k_ * between(1, 4);
    batch_ = between(1, 4);
    page_ = has_no_wrapper ? one_of<5>({1, 3, 16, 32, 50}) : one_of<3>({32, 64, 96});
    const int64_t shape = between(0, 3);
    for (int64_t b = 0; b < batch_; ++b) {
      const int64_t keys = c_.function->varlen ? between(chance(20) ? 0 : 1, 170) : between(1, 170);
      seqlens_k_.push_back(keys);
      seqlens_q_.push_back(shape == 0 ? 1 : shape == 1 ? keys : between(shape == 2 ? 1 : 0, 70));
    }
    if (!c_.function->varlen) {
      seqlens_q_.assign(static_cast<size_t>(batch_), std::max<int64_t>(1, seqlens_q_[0]));
      seqlens_k_.assign(static_cast<size_t>(batch_), seqlens_k_[0]);
    }
    if (std::accumulate(seqlens_q_.begin(), seqlens_q_.end(), int64_t{0}) == 0) seqlens_q_[0] = 1;
  }

  int64_t new_storage(int64_t elements) {
    c_.storages.push_back({.name = "s" + std::to_string(c_.storages.size()), .elements = elements});
    return static_cast<int64_t>(c_.storages.size()) - 1;
  }

  TensorSpec& put(TensorName name, TensorSpec tensor) {
    c_.tensors[static_cast<size_t>(name)] = std::move(tensor);
    return *c_.tensors[static_cast<size_t>(name)];
  }

  std::shared_ptr<const Values> some_fill() {
    Fill fill{.seed = random_()};
    if (chance(30)) fill.generator = Fill::Generator::kUniform;
    fill.std = chance(20) ? 3 : 1;
    return std::make_shared<const Values>(fill);
  }

  /// Rows of `heads` heads, padded or cut out of a wider row; strides and offsets keep the 16-byte
  /// alignment that the kernels need.
  TensorSpec rows(std::vector<int64_t> outer, int64_t heads) {
    const int64_t pad = chance(40) ? 8 * between(1, 4) : 0;
    TensorSpec tensor{.dtype = dtype_, .offset = chance(30) ? 8 * between(1, 9) : 0};
    tensor.shape = std::move(outer);
    tensor.shape.push_back(heads);
    tensor.shape.push_back(head_dim_);
    tensor.strides.assign(tensor.shape.size(), 1);
    tensor.strides[tensor.shape.size() - 2] = head_dim_;
    int64_t stride = heads * head_dim_ + pad;
    for (size_t i = tensor.shape.size() - 2; i-- > 0;) {
      tensor.strides[i] = stride;
      stride *= tensor.shape[i];
    }
    tensor.storage = new_storage(tensor.offset + *tensor.span());
    tensor.values = some_fill();
    return tensor;
  }

  void add_data_tensors() {
    const auto total = [](const std::vector<int64_t>& lengths) {
      return std::accumulate(lengths.begin(), lengths.end(), int64_t{0});
    };
    std::vector<int64_t> outer_q{batch_, seqlens_q_[0]}, outer_k{batch_, seqlens_k_[0]};
    if (c_.function->varlen) {
      outer_q = {total(seqlens_q_)};
      outer_k = {total(seqlens_k_)};
    }
    if (c_.function->paged) {
      for (int64_t keys : seqlens_k_) pages_ += (keys + page_ - 1) / page_;
      pages_ += between(1, 3);
      outer_k = {pages_, page_};
    }
    put(TensorName::kQ, rows(outer_q, heads_));
    TensorSpec k = rows(outer_k, heads_k_);
    TensorSpec v = chance(50) ? rows(outer_k, heads_k_) : k;
    if (v.storage == k.storage) {  // V right behind K
      v.offset = (k.offset + *k.span() + 7) / 8 * 8;
      v.values = some_fill();
      c_.storages[static_cast<size_t>(k.storage)].elements = v.offset + *v.span();
    }
    put(TensorName::kK, std::move(k));
    put(TensorName::kV, std::move(v));
  }

  TensorSpec integers(Dtype dtype, std::vector<int64_t> shape, std::vector<int64_t> values) {
    TensorSpec tensor{.dtype = dtype, .shape = shape, .strides = *contiguous_strides(shape)};
    tensor.storage = new_storage(static_cast<int64_t>(values.size()));
    tensor.values = std::make_shared<const Values>(LiteralValues{.ints = std::move(values)});
    return tensor;
  }

  void add_lengths() {
    const auto cumulative = [&](const std::vector<int64_t>& lengths) {
      std::vector<int64_t> sums{0};
      for (int64_t length : lengths) sums.push_back(sums.back() + length);
      const int64_t count = static_cast<int64_t>(sums.size());
      return integers(Dtype::kU32, {count}, std::move(sums));
    };
    put(TensorName::kSeqlensQ, cumulative(seqlens_q_));
    put(TensorName::kSeqlensK, cumulative(seqlens_k_));
  }

  void add_pages() {
    std::vector<int64_t> order(static_cast<size_t>(pages_));
    std::iota(order.begin(), order.end(), int64_t{0});
    std::shuffle(order.begin(), order.end(), random_);
    const int64_t longest = *std::max_element(seqlens_k_.begin(), seqlens_k_.end());
    const int64_t columns = (longest + page_ - 1) / page_ + between(0, 2);
    std::vector<int64_t> table;
    size_t next = 0;
    for (int64_t keys : seqlens_k_) {
      const int64_t used = (keys + page_ - 1) / page_;
      for (int64_t entry = 0; entry < columns; ++entry) {
        table.push_back(entry < used ? order[next++] : 0);
      }
    }
    put(TensorName::kBlockTable,
        integers(chance(50) ? Dtype::kU32 : Dtype::kI32, {batch_, columns}, std::move(table)));
    if (!chance(25)) return;
    std::vector<int64_t> ranges;
    for (int64_t keys : seqlens_k_) {
      for (int i = 0; i < 2; ++i) {
        const int64_t begin = between(0, std::max<int64_t>(keys - 1, 0));
        ranges.insert(ranges.end(), {begin, keys == 0 ? 0 : between(begin, keys)});
      }
    }
    put(TensorName::kMmPrefixRanges, integers(Dtype::kI32, {batch_, 2, 2}, std::move(ranges)));
  }

  void add_slopes() {
    if (c_.function->alibi == Presence::kOptional && chance(40)) return;
    put(TensorName::kAlibiSlopes,
        {.dtype = Dtype::kF32, .shape = {heads_}, .strides = {1}, .storage = new_storage(heads_)});
  }

  void choose_args() {
    CallArgs& args = c_.args;
    args.softmax_scale = static_cast<float>(between(1, 60)) / 60.0f;
    args.max_seqlen_q = *std::max_element(seqlens_q_.begin(), seqlens_q_.end());
    args.max_seqlen_k = *std::max_element(seqlens_k_.begin(), seqlens_k_.end());
    args.page_block_size = page_;
    args.causal = chance(60);
    if (c_.function->windowed && chance(50)) args.window_size_left = between(0, 60);
    if (c_.function->windowed && chance(70))
      args.window_size_right = chance(60) ? 0 : between(0, 60);
    if (c_.function->softcap == Presence::kRequired) args.softcap = 0.0f;
    if (c_.function->softcap != Presence::kAbsent && chance(50)) {
      args.softcap = static_cast<float>(between(2, 50));
    }
    args.use_gqa_packing = chance(50);
  }

  std::mt19937_64& random_;
  Case c_;
  Dtype dtype_ = Dtype::kF16;
  int64_t head_dim_ = 0, heads_ = 0, heads_k_ = 0, batch_ = 0, page_ = 0, pages_ = 0;
  std::vector<int64_t> seqlens_q_, seqlens_k_;
};

}  // namespace

Case random_call(std::mt19937_64& random) { return Builder(random).build(); }
