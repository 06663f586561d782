#include "tests/hazards/random_call.h"

#include <algorithm>
#include <utility>

#include "src/spec/random_bits.h"

namespace flashcheck {
namespace {

/// Draws one after the other from the stream of a number.
class Draws {
 public:
  explicit Draws(uint64_t number) : seed_(random_bits(0x5EA2C4, number)) {}
  /// From [low, high], both included.
  int64_t between(int64_t low, int64_t high) {
    return low + static_cast<int64_t>(random_bits(seed_, count_++) %
                                      static_cast<uint64_t>(high - low + 1));
  }
  /// True once in n.
  bool once_in(int64_t n) { return between(1, n) == 1; }

 private:
  uint64_t seed_, count_ = 0;
};

class CallMaker {
 public:
  explicit CallMaker(uint64_t number) : draw_(number) {
    call_.id = "call " + std::to_string(number);
    call_.seed = number;
  }

  Case make() {
    const auto functions = wrapper_functions();
    call_.function = &functions[static_cast<size_t>(draw_.between(0, std::ssize(functions) - 1))];
    const WrapperFunction& function = *call_.function;
    const bool is_v3 = function.wrapper == Wrapper::kCandleFlashAttnV3;
    const bool is_direct = function.wrapper == Wrapper::kNone;
    dtype_ = draw_.once_in(2) ? Dtype::kF16 : Dtype::kBF16;
    if (is_direct && draw_.once_in(3)) dtype_ = Dtype::kF32;
    head_dim_ = is_v3 ? 64 : 8 * draw_.between(1, 2);
    heads_k_ = draw_.between(1, 3);
    heads_ = heads_k_ * draw_.between(1, 3);
    batch_ = draw_.between(1, 3);
    if (function.varlen) {
      draw_varlen();
    } else {
      const int64_t rows = draw_.between(draw_.once_in(20) ? 0 : 1, 6);
      const int64_t keys = draw_.between(draw_.once_in(20) ? 0 : 1, 20);
      add_data(TensorName::kQ, {batch_, rows, heads_, head_dim_});
      add_kv({batch_, keys, heads_k_, head_dim_});
    }
    if (function.paged) draw_pages(is_direct);
    draw_arguments();
    return std::move(call_);
  }

 private:
  int64_t new_storage(int64_t elements) {
    call_.storages.push_back({"storage " + std::to_string(call_.storages.size()), elements});
    return std::ssize(call_.storages) - 1;
  }

  /// As long as the view needs; sometimes a little off.
  int64_t storage_for(int64_t needed) {
    int64_t elements = needed;
    if (draw_.once_in(12)) elements -= draw_.between(1, 9);
    if (draw_.once_in(12)) elements += draw_.between(1, 9);
    return std::max<int64_t>(elements, 0);
  }

  void set_strides(TensorSpec& tensor) {
    tensor.strides = *contiguous_strides(tensor.shape);
    const size_t row = tensor.shape.size() - 3, head = row + 1;
    if (draw_.once_in(4)) {  // a part of wider rows
      const int64_t pad = 8 * draw_.between(1, 3);
      for (size_t dim = 0; dim <= row; ++dim) tensor.strides[dim] += pad * (dim == row ? 1 : 40);
    }
    if (draw_.once_in(5)) {  // heads first
      tensor.strides[head] = tensor.shape[row] * tensor.shape.back();
      tensor.strides[row] = tensor.shape.back();
    }
    const auto some_dim = [&] {
      return static_cast<size_t>(draw_.between(0, static_cast<int64_t>(head)));
    };
    if (draw_.once_in(10)) tensor.strides[some_dim()] = 0;
    if (draw_.once_in(10)) {
      tensor.strides[some_dim()] += draw_.between(1, 7);
    }
    if (draw_.once_in(200)) tensor.strides[0] += int64_t{1} << 32;
  }

  void add_data(TensorName name, std::vector<int64_t> shape) {
    TensorSpec tensor{.dtype = dtype_, .shape = std::move(shape)};
    set_strides(tensor);
    if (draw_.once_in(3)) tensor.offset = draw_.between(0, 16);
    // A stride of 2^32 is only for calls of which no more is said than that.
    const int64_t span = std::min<int64_t>(*tensor.span(), 1 << 20);
    tensor.storage = new_storage(storage_for(tensor.offset + span));
    if (tensor.offset > call_.storage_elements(tensor)) tensor.offset = 0;
    // Addresses matter here, not values: these are quick to make.
    static const auto kValues = std::make_shared<const Values>(
        Fill{.generator = Fill::Generator::kRamp, .step = 0.125, .modulo = 7});
    tensor.values = kValues;
    call_.tensors[static_cast<size_t>(name)] = std::move(tensor);
  }

  void add_kv(const std::vector<int64_t>& shape) {
    add_data(TensorName::kK, shape);
    add_data(TensorName::kV, shape);
    if (!draw_.once_in(6)) return;  // both in one storage, one after the other
    TensorSpec& v = *call_.tensors[static_cast<size_t>(TensorName::kV)];
    const TensorSpec& k = call_.k();
    v.strides = k.strides;
    v.offset = k.offset + *k.num_elements();
    const int64_t span = std::min<int64_t>(*v.span(), 1 << 20);
    v.storage = k.storage;
    call_.storages[static_cast<size_t>(k.storage)].elements = storage_for(v.offset + span);
    if (v.offset > call_.storage_elements(v)) v.offset = 0;
  }

  void add_integers(TensorName name, Dtype dtype, std::vector<int64_t> shape,
                    std::vector<int64_t> values) {
    TensorSpec tensor{.dtype = dtype, .shape = std::move(shape)};
    tensor.strides = *contiguous_strides(tensor.shape);
    if (draw_.once_in(4)) tensor.offset = draw_.between(0, 5);
    if (tensor.shape.size() > 1 && draw_.once_in(8)) tensor.strides[0] = draw_.between(0, 9);
    if (tensor.shape.size() > 2 && draw_.once_in(8)) tensor.strides[1] = draw_.between(0, 4);
    if (!draw_.once_in(100)) {
      tensor.values = std::make_shared<const Values>(LiteralValues{.ints = std::move(values)});
    }
    tensor.storage = new_storage(storage_for(tensor.offset + *tensor.span()));
    if (tensor.offset > call_.storage_elements(tensor)) tensor.offset = 0;
    call_.tensors[static_cast<size_t>(name)] = std::move(tensor);
  }

  /// Cumulative lengths, sometimes spoiled.
  std::vector<int64_t> cumulative(int64_t longest) {
    std::vector<int64_t> sums{0};
    for (int64_t b = 0; b < batch_; ++b) sums.push_back(sums.back() + draw_.between(0, longest));
    return sums;
  }

  void spoil(std::vector<int64_t>& sums) {
    constexpr int64_t kOdd[] = {0xFFFFFFFF, 0x80000000, 0x7FFFFFFF, 0, 1};
    int64_t& entry = sums[static_cast<size_t>(draw_.between(0, std::ssize(sums) - 1))];
    entry = draw_.once_in(3) ? kOdd[draw_.between(0, 4)]
                             : std::max<int64_t>(0, entry + draw_.between(-3, 3));
  }

  void draw_varlen() {
    std::vector<int64_t> q = cumulative(draw_.once_in(30) ? 70 : 6);
    std::vector<int64_t> k = cumulative(call_.function->paged ? 75 : 20);
    add_data(TensorName::kQ, {q.back(), heads_, head_dim_});
    if (!call_.function->paged) add_kv({k.back(), heads_k_, head_dim_});
    longest_q_ = longest_k_ = 0;
    for (size_t b = 0; b + 1 < q.size(); ++b) {
      longest_q_ = std::max(longest_q_, q[b + 1] - q[b]);
      longest_k_ = std::max(longest_k_, k[b + 1] - k[b]);
    }
    if (draw_.once_in(8)) spoil(q);
    if (draw_.once_in(8)) spoil(k);
    const int64_t entries = batch_ + 1;
    add_integers(TensorName::kSeqlensQ, Dtype::kU32, {entries}, std::move(q));
    add_integers(TensorName::kSeqlensK, Dtype::kU32, {entries}, std::move(k));
    call_.args.max_seqlen_q = draw_.once_in(8) ? draw_.between(0, 80) : longest_q_;
    call_.args.max_seqlen_k = draw_.once_in(8) ? draw_.between(0, 80) : longest_k_;
  }

  void draw_pages(bool is_direct) {
    const int64_t page = is_direct ? draw_.between(1, 40) : 32;
    const int64_t num_blocks = draw_.between(1, 5);
    const int64_t columns = std::max<int64_t>(
        draw_.once_in(10) ? 0 : 1, (longest_k_ + page - 1) / page - (draw_.once_in(10) ? 1 : 0));
    const int64_t rows = batch_ + (draw_.once_in(12) ? draw_.between(-1, 1) : 0);
    const bool has_odd_ids = draw_.once_in(4);
    std::vector<int64_t> ids;
    for (int64_t n = 0; n < rows * columns; ++n) {
      const bool is_odd = has_odd_ids && draw_.once_in(4);
      ids.push_back(is_odd ? draw_.between(-1, num_blocks) : draw_.between(0, num_blocks - 1));
    }
    add_kv({num_blocks, page, heads_k_, head_dim_});
    add_integers(TensorName::kBlockTable, Dtype::kI32, {rows, columns}, std::move(ids));
    call_.args.page_block_size = page;
    if (!draw_.once_in(3)) return;
    const int64_t count = draw_.between(0, 3);
    std::vector<int64_t> ranges;
    for (int64_t n = 0; n < batch_ * count; ++n) {
      ranges.push_back(draw_.between(-2, longest_k_));
      ranges.push_back(ranges.back() + draw_.between(-1, 30));
    }
    add_integers(TensorName::kMmPrefixRanges, Dtype::kI32, {batch_, count, 2}, std::move(ranges));
  }

  void draw_arguments() {
    CallArgs& args = call_.args;
    args.softmax_scale = 0.25f;
    args.causal = draw_.once_in(2);
    if (call_.function->windowed) {
      if (draw_.once_in(2)) args.window_size_left = draw_.between(0, draw_.once_in(2) ? 5 : 60);
      if (draw_.once_in(2)) args.window_size_right = draw_.between(0, draw_.once_in(2) ? 0 : 9);
    }
    if (call_.function->softcap == Presence::kRequired) args.softcap = 5.0f;
    args.use_gqa_packing = call_.function->has_gqa_packing && draw_.once_in(2);
    const Presence alibi = call_.function->alibi;
    if (alibi == Presence::kRequired || (alibi == Presence::kOptional && draw_.once_in(2))) {
      add_slopes();
    }
  }

  void add_slopes() {
    TensorSpec slopes{.dtype = Dtype::kF32, .shape = {heads_}, .strides = {1}};
    if (draw_.once_in(4)) slopes.strides[0] = draw_.between(0, 2);
    if (draw_.once_in(4)) slopes.offset = draw_.between(0, 5);
    slopes.storage = new_storage(storage_for(slopes.offset + *slopes.span()));
    if (slopes.offset > call_.storage_elements(slopes)) slopes.offset = 0;
    call_.tensors[static_cast<size_t>(TensorName::kAlibiSlopes)] = std::move(slopes);
  }

  Draws draw_;
  Case call_;
  Dtype dtype_ = Dtype::kF16;
  int64_t head_dim_ = 8, heads_ = 1, heads_k_ = 1, batch_ = 1;
  int64_t longest_q_ = 0, longest_k_ = 0;
};

}  // namespace

Case random_call(uint64_t number) { return CallMaker(number).make(); }

}  // namespace flashcheck
