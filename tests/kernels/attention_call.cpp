#include "tests/kernels/attention_call.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <numeric>

namespace flashcheck::testing {
namespace {

constexpr int64_t kGuard = 64;  // elements on each side of out and lse
constexpr float kUnwrittenLse = -12345.0f;

void store(std::vector<std::byte>& bytes, Dtype dtype, int64_t index, double value) {
  const uint32_t bits = encode(dtype, value);
  const auto size = static_cast<size_t>(size_in_bytes(dtype));
  std::memcpy(bytes.data() + static_cast<size_t>(index) * size, &bits, size);  // little-endian
}

std::vector<double> decoded(Dtype dtype) {
  std::vector<double> values;
  for (uint32_t bits = 0; bits < 0x10000u; ++bits) values.push_back(decode(dtype, bits));
  return values;
}

double fetch(const std::vector<std::byte>& bytes, Dtype dtype, int64_t index) {
  if (dtype == Dtype::kF32) {
    float value;
    std::memcpy(&value, bytes.data() + index * 4, 4);
    return double{value};
  }
  static const std::vector<double> f16 = decoded(Dtype::kF16), bf16 = decoded(Dtype::kBF16);
  uint16_t bits;
  std::memcpy(&bits, bytes.data() + index * 2, 2);
  return dtype == Dtype::kF16 ? f16[bits] : bf16[bits];
}

std::vector<int32_t> cumulative(const std::vector<int64_t>& lengths, int64_t first) {
  std::vector<int32_t> sums = {static_cast<int32_t>(first)};
  for (const int64_t n : lengths) sums.push_back(sums.back() + static_cast<int32_t>(n));
  return sums;
}

struct Format {
  int fraction_bits, min_exponent, max_exponent;
};
Format format_of(Dtype dtype) {
  if (dtype == Dtype::kF16) return {10, -14, 15};
  if (dtype == Dtype::kBF16) return {7, -126, 127};
  return {23, -126, 127};
}

}  // namespace

uint32_t encode(Dtype dtype, double value) {
  const auto [fraction_bits, min_exponent, max_exponent] = format_of(dtype);
  const int width = dtype == Dtype::kF32 ? 32 : 16;
  const uint32_t sign = std::signbit(value) ? 1u << (width - 1) : 0;
  const auto infinity = static_cast<uint32_t>(max_exponent - min_exponent + 2) << fraction_bits;
  if (std::isnan(value)) return sign | infinity | (1u << (fraction_bits - 1));
  const double a = std::fabs(value);
  if (std::isinf(a)) return sign | infinity;
  const int exponent = a == 0 ? min_exponent : std::max(min_exponent, std::ilogb(a));
  // In units of the last place; a carry into the next binade is the right number anyhow.
  const double units = std::nearbyint(std::ldexp(a, fraction_bits - exponent));
  const auto magnitude = (static_cast<int64_t>(exponent - min_exponent) << fraction_bits) +
                         static_cast<int64_t>(units);
  return sign | static_cast<uint32_t>(std::min<int64_t>(magnitude, infinity));
}

double decode(Dtype dtype, uint32_t bits) {
  const auto [fraction_bits, min_exponent, max_exponent] = format_of(dtype);
  const int width = dtype == Dtype::kF32 ? 32 : 16;
  const double sign = (bits >> (width - 1)) & 1u ? -1.0 : 1.0;
  const int exponent_bits = width - 1 - fraction_bits;
  const int exponent = static_cast<int>((bits >> fraction_bits) & ((1u << exponent_bits) - 1));
  const uint32_t fraction = bits & ((1u << fraction_bits) - 1);
  if (exponent == (1 << exponent_bits) - 1) {
    return fraction == 0 ? sign * HUGE_VAL : std::nan("");
  }
  const double significand = fraction + (exponent == 0 ? 0.0 : std::ldexp(1.0, fraction_bits));
  return sign * std::ldexp(significand, std::max(exponent, 1) - 1 + min_exponent - fraction_bits);
}

AttentionCall::AttentionCall(const CallShape& s) : shape(s) {
  const auto batch = static_cast<int64_t>(s.seqlens_q.size());
  max_q_ = *std::ranges::max_element(s.seqlens_q);
  max_k_ = *std::ranges::max_element(s.seqlens_k);
  cu_q_ = cumulative(s.seqlens_q, s.is_varlen ? s.uncovered_rows : 0);
  cu_k_ = cumulative(s.seqlens_k, 0);
  total_q_ = cu_q_.back() + (s.is_varlen ? s.uncovered_rows : 0);
  std::mt19937 rng(s.seed);

  int64_t kv_rows = cu_k_.back(), num_kv_blocks = s.is_varlen ? 1 : batch;
  if (!s.is_varlen) kv_rows = max_k_;
  if (s.page_block_size > 0) {
    pages_a_row_ = (max_k_ + s.page_block_size - 1) / s.page_block_size + 1;
    const int64_t num_pages = batch * pages_a_row_ + 2;
    std::vector<int32_t> pages(static_cast<size_t>(num_pages));
    std::iota(pages.begin(), pages.end(), 0);
    std::ranges::shuffle(pages, rng);
    // Entries past a sequence's last page are -1: nobody may follow them.
    for (int64_t n = 0; n < batch * pages_a_row_; ++n) {
      const int64_t begin = n % pages_a_row_ * s.page_block_size;
      const bool is_used = begin < s.seqlens_k[static_cast<size_t>(n / pages_a_row_)];
      block_table_.push_back(is_used ? pages[static_cast<size_t>(n)] : -1);
    }
    kv_rows = s.page_block_size;
    num_kv_blocks = num_pages;
  }
  size_t max_ranges = 0;
  for (const auto& of_sequence : s.ranges) max_ranges = std::max(max_ranges, of_sequence.size());
  for (const auto& of_sequence : s.ranges) {
    for (size_t r = 0; r < max_ranges; ++r) {
      const auto [begin, end] = r < of_sequence.size() ? of_sequence[r] : std::pair{0, 0};
      ranges_.push_back(begin);
      ranges_.push_back(end);
    }
  }

  const auto size = static_cast<size_t>(size_in_bytes(s.dtype));
  constexpr auto kPoison = std::byte{0xFF};
  q_strides_ = strides(s.q, s.is_varlen ? total_q_ : max_q_, s.h);
  k_strides_ = strides(s.k, kv_rows, s.h_k);
  v_strides_ = strides(s.v, kv_rows, s.h_k);
  q_.assign(static_cast<size_t>(q_strides_.batch * (s.is_varlen ? 1 : batch)) * size, kPoison);
  k_.assign(static_cast<size_t>(k_strides_.batch * num_kv_blocks) * size, kPoison);
  v_.assign(static_cast<size_t>(v_strides_.batch * num_kv_blocks) * size, kPoison);
  out_.assign(static_cast<size_t>(total_q_ * s.h * s.d + 2 * kGuard) * size, kPoison);
  lse_.assign(static_cast<size_t>(total_q_ * s.h + 2 * kGuard), kUnwrittenLse);

  std::uniform_real_distribution<double> uniform(-2, 2);
  for (int64_t b = 0; b < batch; ++b) {
    for (int64_t i = 0; i < s.seqlens_q[static_cast<size_t>(b)]; ++i) {
      for (int64_t n = 0; n < s.h * s.d; ++n) set_q(b, i, n / s.d, n % s.d, uniform(rng));
    }
    for (int64_t j = 0; j < s.seqlens_k[static_cast<size_t>(b)]; ++j) {
      for (int64_t n = 0; n < s.h_k * s.d; ++n) set_k(b, j, n / s.d, n % s.d, uniform(rng));
      for (int64_t n = 0; n < s.h_k * s.d; ++n) set_v(b, j, n / s.d, n % s.d, uniform(rng));
    }
  }
  for (int64_t n = 0; s.has_alibi && n < s.h; ++n) {
    slopes.push_back(std::ldexp(1.0f, static_cast<int>(-n - 1)));
  }
}

AttentionParams AttentionCall::params() {
  const CallShape& s = shape;
  AttentionParams params;
  params.dtype = s.dtype;
  params.q = q_.data();
  params.k = k_.data();
  params.v = v_.data();
  params.out = out_.data() + kGuard * size_in_bytes(s.dtype);
  params.lse = lse_.data() + kGuard;
  if (s.is_varlen) params.cu_seqlens_q = cu_q_.data();
  if (s.is_varlen) params.cu_seqlens_k = cu_k_.data();
  if (s.has_alibi) params.alibi_slopes = slopes.data();
  if (s.page_block_size > 0) params.block_table = block_table_.data();
  if (!s.ranges.empty()) params.mm_prefix_ranges = ranges_.data();
  params.rounds_p = s.rounds_p;

  LaunchParams& launch = params.launch;
  const auto u32 = [](int64_t value) { return static_cast<uint32_t>(value); };
  launch.q_row_stride = u32(q_strides_.row);
  launch.k_row_stride = u32(k_strides_.row);
  launch.v_row_stride = u32(v_strides_.row);
  launch.o_row_stride = u32(s.h * s.d);
  launch.q_head_stride = u32(q_strides_.head);
  launch.k_head_stride = u32(k_strides_.head);
  launch.v_head_stride = u32(v_strides_.head);
  launch.o_head_stride = u32(s.d);
  if (!s.is_varlen) launch.q_batch_stride = u32(q_strides_.batch);
  if (!s.is_varlen) launch.o_batch_stride = u32(max_q_ * s.h * s.d);
  if (!s.is_varlen || s.page_block_size > 0) {
    launch.k_batch_stride = u32(k_strides_.batch);
    launch.v_batch_stride = u32(v_strides_.batch);
  }
  launch.b = u32(static_cast<int64_t>(s.seqlens_q.size()));
  launch.h = u32(s.h);
  launch.h_k = u32(s.h_k);
  launch.d = u32(s.d);
  launch.softmax_scale = s.softmax_scale;
  launch.softcap = s.softcap;
  launch.seqlen_q = u32(max_q_);
  launch.seqlen_k = u32(s.max_seqlen_k < 0 ? max_k_ : s.max_seqlen_k);
  launch.total_q = u32(total_q_);
  launch.is_causal = s.is_causal ? 1 : 0;
  launch.unpadded_lse = s.is_varlen ? 1 : 0;
  launch.window_size_left = static_cast<int32_t>(s.left);
  launch.window_size_right = static_cast<int32_t>(s.right);
  launch.block_table_batch_stride = u32(pages_a_row_);
  launch.page_block_size = static_cast<int32_t>(s.page_block_size);
  if (!s.ranges.empty()) {
    launch.mm_prefix_range_batch_stride =
        u32(static_cast<int64_t>(ranges_.size() / s.ranges.size()));
    launch.max_mm_prefix_ranges = static_cast<int32_t>(launch.mm_prefix_range_batch_stride / 2);
  }
  return params;
}

std::vector<HostRegion> AttentionCall::regions() {
  std::vector<HostRegion> regions;
  const auto add = [&](auto& values, bool is_written) {
    if (values.empty()) return;
    regions.push_back({reinterpret_cast<std::byte*>(values.data()),
                       static_cast<int64_t>(values.size() * sizeof(values[0])), is_written});
  };
  for (auto* tensor : {&q_, &k_, &v_}) add(*tensor, false);
  for (auto* table : {&cu_q_, &cu_k_, &block_table_, &ranges_}) add(*table, false);
  add(slopes, false);
  add(out_, true);
  add(lse_, true);
  return regions;
}

AttentionCall::Strides AttentionCall::strides(const RowLayout& layout, int64_t num_rows,
                                              int64_t num_heads) const {
  const int64_t width = shape.d + layout.gap, batch = num_rows * num_heads * width;
  if (layout.is_head_major) return {batch, width, num_rows * width};
  return {batch, num_heads * width, width};
}

int64_t AttentionCall::q_index(int64_t sequence, int64_t i, int64_t head) const {
  const int64_t first = shape.is_varlen ? cu_q_[static_cast<size_t>(sequence)] * q_strides_.row
                                        : sequence * q_strides_.batch;
  return first + i * q_strides_.row + head * q_strides_.head;
}
int64_t AttentionCall::kv_index(const Strides& to, int64_t sequence, int64_t j,
                                int64_t kv_head) const {
  int64_t first = sequence * to.batch;
  if (shape.page_block_size > 0) {
    const int64_t entry = sequence * pages_a_row_ + j / shape.page_block_size;
    first = block_table_[static_cast<size_t>(entry)] * to.batch;
    j %= shape.page_block_size;
  } else if (shape.is_varlen) {
    first = cu_k_[static_cast<size_t>(sequence)] * to.row;
  }
  return first + j * to.row + kv_head * to.head;
}
int64_t AttentionCall::out_index(int64_t sequence, int64_t i, int64_t head) const {
  return kGuard + ((cu_q_[static_cast<size_t>(sequence)] + i) * shape.h + head) * shape.d;
}
int64_t AttentionCall::lse_index(int64_t sequence, int64_t i, int64_t head) const {
  if (!shape.is_varlen) return kGuard + (sequence * shape.h + head) * max_q_ + i;
  return kGuard + head * total_q_ + cu_q_[static_cast<size_t>(sequence)] + i;
}

double AttentionCall::q(int64_t b, int64_t i, int64_t head, int64_t c) const {
  return fetch(q_, shape.dtype, q_index(b, i, head) + c);
}
double AttentionCall::k(int64_t b, int64_t j, int64_t head, int64_t c) const {
  return fetch(k_, shape.dtype, kv_index(k_strides_, b, j, head) + c);
}
double AttentionCall::v(int64_t b, int64_t j, int64_t head, int64_t c) const {
  return fetch(v_, shape.dtype, kv_index(v_strides_, b, j, head) + c);
}
double AttentionCall::out(int64_t b, int64_t i, int64_t head, int64_t c) const {
  return fetch(out_, shape.dtype, out_index(b, i, head) + c);
}
float AttentionCall::lse(int64_t b, int64_t i, int64_t head) const {
  return lse_[static_cast<size_t>(lse_index(b, i, head))];
}
void AttentionCall::set_q(int64_t b, int64_t i, int64_t head, int64_t c, double value) {
  store(q_, shape.dtype, q_index(b, i, head) + c, value);
}
void AttentionCall::set_k(int64_t b, int64_t j, int64_t head, int64_t c, double value) {
  store(k_, shape.dtype, kv_index(k_strides_, b, j, head) + c, value);
}
void AttentionCall::set_v(int64_t b, int64_t j, int64_t head, int64_t c, double value) {
  store(v_, shape.dtype, kv_index(v_strides_, b, j, head) + c, value);
}

int64_t AttentionCall::num_stray_bytes() const {
  const auto size = static_cast<size_t>(size_in_bytes(shape.dtype));
  std::vector<bool> is_owned(out_.size()), is_owned_lse(lse_.size());
  for (size_t b = 0; b < shape.seqlens_q.size(); ++b) {
    for (int64_t n = 0; n < shape.seqlens_q[b] * shape.h; ++n) {
      const auto sequence = static_cast<int64_t>(b);
      const auto first = static_cast<size_t>(out_index(sequence, n / shape.h, n % shape.h)) * size;
      const size_t length = static_cast<size_t>(shape.d) * size;
      for (size_t byte = first; byte < first + length; ++byte) is_owned[byte] = true;
      is_owned_lse[static_cast<size_t>(lse_index(sequence, n / shape.h, n % shape.h))] = true;
    }
  }
  int64_t stray = 0;
  for (size_t n = 0; n < out_.size(); ++n) stray += !is_owned[n] && out_[n] != std::byte{0xFF};
  for (size_t n = 0; n < lse_.size(); ++n) stray += !is_owned_lse[n] && lse_[n] != kUnwrittenLse;
  return stray;
}

}  // namespace flashcheck::testing
