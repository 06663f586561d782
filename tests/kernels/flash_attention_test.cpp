#include "kernels/cpu/flash_attention.h"

#include <doctest/doctest.h>

#include <cmath>
#include <cstring>
#include <initializer_list>
#include <limits>

#include "tests/kernels/attention_call.h"

using namespace flashcheck;
using namespace flashcheck::testing;

namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

void set_key(AttentionCall& call, int64_t sequence, int64_t j, int64_t kv_head, double value) {
  for (int64_t c = 0; c < call.shape.d; ++c) call.set_k(sequence, j, kv_head, c, value);
}
void set_value(AttentionCall& call, int64_t sequence, int64_t j, int64_t kv_head, double value) {
  for (int64_t c = 0; c < call.shape.d; ++c) call.set_v(sequence, j, kv_head, c, value);
}

}  // namespace

TEST_CASE("every head dim from 8 to 512") {
  for (int64_t d = 8; d <= 512; d += 8) {
    CAPTURE(d);
    AttentionCall call({.dtype = d % 16 == 0 ? Dtype::kF16 : Dtype::kBF16,
                        .h = 2,
                        .d = d,
                        .seqlens_q = {3},
                        .seqlens_k = {5},
                        .is_causal = true,
                        .softmax_scale = 1.0f / std::sqrt(static_cast<float>(d))});
    check_against_naive(call);
  }
}

TEST_CASE("many tiles of keys and of queries, the maximum rising to the last") {
  for (const Dtype dtype : {Dtype::kF16, Dtype::kBF16, Dtype::kF32}) {
    AttentionCall call({.dtype = dtype, .h = 3, .seqlens_q = {150}, .seqlens_k = {321}});
    for (int64_t j = 0; j < 321; ++j) {
      for (int64_t c = 0; c < 8; ++c) {
        call.set_k(0, j, 0, c, call.k(0, j, 0, c) * static_cast<double>(j) / 64);
      }
    }
    check_against_naive(call);
  }
}

TEST_CASE("the same bytes for any number of threads") {
  const CallShape shape{.dtype = Dtype::kBF16,
                        .h = 6,
                        .h_k = 2,
                        .d = 24,
                        .seqlens_q = {70, 0, 1, 33},
                        .seqlens_k = {90, 40, 65, 0},
                        .is_varlen = true,
                        .page_block_size = 7,
                        .is_causal = true};
  AttentionCall one(shape);
  cpu_flash_attention(one.params(), 1);
  for (const int num_threads : {2, 3, 7, 64}) {
    CAPTURE(num_threads);
    AttentionCall many(shape);
    check_against_naive(many, num_threads);
    CHECK(many.out_bytes() == one.out_bytes());
    CHECK(std::memcmp(many.lse_values().data(), one.lse_values().data(),
                      one.lse_values().size() * sizeof(float)) == 0);
  }
}

TEST_CASE("query heads share kv heads in contiguous groups") {
  AttentionCall call({.h = 6, .h_k = 2, .seqlens_q = {2}, .seqlens_k = {3}});
  for (int64_t n = 0; n < 6; ++n) set_value(call, 0, n / 2, n % 2, n % 2 == 0 ? 1 : 2);
  cpu_flash_attention(call.params(), 1);
  for (int64_t head = 0; head < 6; ++head) CHECK(call.out(0, 1, head, 0) == (head < 3 ? 1 : 2));
}

TEST_CASE("a row that sees no key is 0 with lse +inf") {
  AttentionCall call({.h = 2, .seqlens_q = {9}, .seqlens_k = {4}, .is_causal = true});
  check_against_naive(call);
  for (int64_t i = 0; i < 5; ++i) {
    CHECK(call.lse(0, i, 1) == HUGE_VALF);
    for (int64_t c = 0; c < 8; ++c) CHECK(call.out(0, i, 1, c) == 0);
  }
  CHECK(std::isfinite(call.lse(0, 5, 1)));

  AttentionCall no_keys({.seqlens_q = {2, 3}, .seqlens_k = {0, 1}, .is_varlen = true});
  check_against_naive(no_keys);
}

TEST_CASE("P is rounded to the input's type, its sum is not") {
  for (const Dtype dtype : {Dtype::kF16, Dtype::kBF16}) {
    for (const bool rounds_p : {true, false}) {
      AttentionCall call(
          {.dtype = dtype, .seqlens_k = {2}, .softmax_scale = 1, .rounds_p = rounds_p});
      for (int64_t c = 0; c < 8; ++c) call.set_q(0, 0, 0, c, c == 0);
      set_key(call, 0, 0, 0, 0);
      set_key(call, 0, 1, 0, -1);
      const double p = std::exp(-1.0);
      const double rounded = decode(dtype, encode(dtype, p));
      set_value(call, 0, 0, 0, -rounded);
      set_value(call, 0, 1, 0, 1);
      cpu_flash_attention(call.params(), 1);
      if (rounds_p) {
        CHECK(call.out(0, 0, 0, 0) == 0);
      } else {
        CHECK(call.out(0, 0, 0, 0) == doctest::Approx((p - rounded) / (1 + p)).epsilon(0.01));
      }
      CHECK(call.lse(0, 0, 0) == doctest::Approx(std::log(1 + p)).epsilon(1e-6));
    }
  }
}

TEST_CASE("keys that no row sees are not read") {
  // A decode step in a window of three: NaN in every key before it does not matter.
  CallShape shape{.h = 2,
                  .seqlens_q = {1},
                  .seqlens_k = {200},
                  .is_varlen = true,
                  .page_block_size = 5,
                  .left = 2,
                  .right = 0};
  int64_t first_seen = 197;
  SUBCASE("the window alone") {}
  SUBCASE("widened by the range that the row is in, not by the others") {
    shape.ranges = {{{3, 6}, {150, 300}, {0, 199}}};
    first_seen = 150;
  }
  AttentionCall call(shape);
  for (int64_t j = 0; j < first_seen; ++j) {
    set_key(call, 0, j, 0, kNaN);
    set_value(call, 0, j, 0, kNaN);
  }
  check_against_naive(call);
  CHECK(std::isfinite(call.out(0, 0, 1, 0)));
}

TEST_CASE("a range shows its rows keys far outside their window") {
  AttentionCall call({.seqlens_q = {100},
                      .seqlens_k = {100},
                      .is_varlen = true,
                      .page_block_size = 16,
                      .left = 1,
                      .right = 0,
                      .ranges = {{{5, 91}}}});
  check_against_naive(call);
}

TEST_CASE("a masked entry contributes nothing, whatever its v is") {
  for (const double value : {kNaN, HUGE_VAL, -HUGE_VAL}) {
    const CallShape shape{.h = 2, .d = 16, .seqlens_q = {70}, .seqlens_k = {70}, .is_causal = true};
    AttentionCall clean(shape), dirty(shape);
    set_value(dirty, 0, 40, 0, value);
    cpu_flash_attention(clean.params(), 1);
    cpu_flash_attention(dirty.params(), 1);
    for (int64_t i = 0; i < 70; ++i) {
      CAPTURE(i);
      CHECK(dirty.lse(0, i, 1) == clean.lse(0, i, 1));
      for (int64_t c = 0; c < 16; ++c) {
        if (i < 40) {
          CHECK(dirty.out(0, i, 1, c) == clean.out(0, i, 1, c));
        } else if (std::isnan(value)) {
          CHECK(std::isnan(dirty.out(0, i, 1, c)));
        } else {
          CHECK(dirty.out(0, i, 1, c) == value);
        }
      }
    }
  }
}

TEST_CASE("a NaN in q or in a visible k is confined to the rows that use it") {
  AttentionCall call({.h = 2, .seqlens_q = {66}, .seqlens_k = {66}, .is_causal = true});
  call.set_q(0, 3, 1, 5, kNaN);
  call.set_k(0, 65, 0, 2, kNaN);
  cpu_flash_attention(call.params(), 1);
  for (int64_t i = 0; i < 66; ++i) {
    for (int64_t head = 0; head < 2; ++head) {
      CAPTURE(i);
      const bool is_nan = (i == 3 && head == 1) || i == 65;
      CHECK(std::isnan(call.out(0, i, head, 7)) == is_nan);
      CHECK(std::isinf(call.lse(0, i, head)) == is_nan);
    }
  }
}

TEST_CASE("scales that are 0, negative or large") {
  for (const float scale : {0.0f, -0.3f, 50.0f}) {
    for (const bool has_alibi : {false, true}) {
      AttentionCall call({.dtype = Dtype::kF32,
                          .seqlens_q = {20},
                          .seqlens_k = {90},
                          .is_causal = true,
                          .softmax_scale = scale,
                          .has_alibi = has_alibi});
      check_against_naive(call);
    }
  }
}

TEST_CASE("max_seqlen_k caps the keys of a paged call in steps of 32") {
  for (const int64_t max_seqlen_k : {0, 1, 32, 33, 64, 95, 97}) {
    AttentionCall call({.seqlens_q = {40},
                        .seqlens_k = {97},
                        .is_varlen = true,
                        .page_block_size = 32,
                        .max_seqlen_k = max_seqlen_k,
                        .is_causal = true});
    check_against_naive(call);
  }
}

TEST_CASE("addresses are worked out in 64 bits") {
  // One page, far behind a pool that begins where no memory is.
  AttentionCall call({.seqlens_q = {1}, .seqlens_k = {4}, .is_varlen = true, .page_block_size = 4});
  AttentionParams params = call.params();
  cpu_flash_attention(params, 1);
  const auto expected = call.out_bytes();

  const int32_t page = params.block_table[0];
  const int32_t far_page[] = {5};
  const int64_t far_stride = 4'000'000'000;
  const auto moved = [&](const void* first) {
    const int64_t bytes = (page * int64_t{params.launch.k_batch_stride} - 5 * far_stride) * 2;
    return reinterpret_cast<const void*>(reinterpret_cast<uintptr_t>(first) +
                                         static_cast<uintptr_t>(bytes));
  };
  params.k = moved(params.k);
  params.v = moved(params.v);
  params.block_table = far_page;
  params.launch.k_batch_stride = params.launch.v_batch_stride = static_cast<uint32_t>(far_stride);
  std::memset(params.out, 0, 16);
  cpu_flash_attention(params, 1);
  CHECK(call.out_bytes() == expected);
}

TEST_CASE("no lse is written where none is wanted, nothing at all where nothing is asked") {
  AttentionCall call({.seqlens_q = {3}, .seqlens_k = {3}});
  const auto untouched = call.lse_values();
  AttentionParams params = call.params();
  params.lse = nullptr;
  cpu_flash_attention(params, 1);
  CHECK(call.lse_values() == untouched);

  const auto written = call.out_bytes();
  params.launch.b = 0;
  cpu_flash_attention(params, 4);
  params.launch.b = 1;
  params.launch.h = params.launch.h_k = 0;
  cpu_flash_attention(params, 4);
  CHECK(call.out_bytes() == written);
}
