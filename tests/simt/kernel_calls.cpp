#include "tests/simt/kernel_calls.h"

#include <cmath>
#include <exception>
#include <limits>

#include "tests/simt/device.h"
#include "tests/simt/run_under_schedules.h"

namespace flashcheck::testing {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
constexpr auto kBF16 = Dtype::kBF16;

std::vector<KernelCall> make_kernel_calls() {
  std::vector<KernelCall> calls;
  const auto add = [&](std::string shows, CallShape shape) -> KernelCall& {
    calls.push_back({.shows = std::move(shows), .shape = std::move(shape)});
    return calls.back();
  };
  add("one row, one key", {});
  add("whole tiles, nothing masked", {.d = 64, .seqlens_q = {128}, .seqlens_k = {128}});
  add("bf16 likewise", {.dtype = kBF16, .d = 64, .seqlens_q = {128}, .seqlens_k = {128}});
  add("a part of a key tile", {.d = 64, .seqlens_q = {17}, .seqlens_k = {150}});
  add("causal, more keys than rows",
      {.h = 2, .d = 64, .seqlens_q = {140}, .seqlens_k = {200}, .is_causal = true});
  add("causal, rows that see no key",
      {.h = 2, .d = 64, .seqlens_q = {90}, .seqlens_k = {40}, .is_causal = true});
  add("sequences of all lengths, and none", {.h = 2,
                                             .d = 64,
                                             .seqlens_q = {0, 33, 5, 130},
                                             .seqlens_k = {7, 0, 70, 90},
                                             .is_varlen = true,
                                             .is_causal = true,
                                             .uncovered_rows = 2});
  add("windows on both sides",
      {.d = 64, .seqlens_q = {200}, .seqlens_k = {230}, .left = 37, .right = 11});
  add("a window on the left", {.d = 64, .seqlens_q = {150}, .seqlens_k = {150}, .left = 70});
  add("a window on the right", {.d = 64, .seqlens_q = {150}, .seqlens_k = {150}, .right = 3});
  add("a window that ends where a tile does",
      {.d = 64, .seqlens_q = {16}, .seqlens_k = {256}, .left = 127, .right = 0});
  add("decode, eight heads on one", {.h = 16,
                                     .h_k = 2,
                                     .d = 64,
                                     .seqlens_q = {1, 1, 1},
                                     .seqlens_k = {300, 17, 64},
                                     .is_varlen = true,
                                     .page_block_size = 16,
                                     .is_causal = true});
  add("eight tokens of eight heads on one",
      {.h = 8, .d = 64, .seqlens_q = {8}, .seqlens_k = {100}, .is_causal = true});
  add("pages that tiles straddle", {.h = 6,
                                    .h_k = 2,
                                    .d = 64,
                                    .seqlens_q = {40, 9},
                                    .seqlens_k = {170, 95},
                                    .is_varlen = true,
                                    .page_block_size = 48,
                                    .is_causal = true});
  add("pages of one row", {.dtype = kBF16,
                           .d = 64,
                           .seqlens_q = {20},
                           .seqlens_k = {70},
                           .is_varlen = true,
                           .page_block_size = 1});
  add("a padded head dim",
      {.h = 2, .d = 40, .seqlens_q = {70}, .seqlens_k = {90}, .is_causal = true, .k = {.gap = 8}});
  add("keys alone out of step with 16 bytes",
      {.d = 40, .seqlens_q = {9}, .seqlens_k = {70}, .k = {.gap = 1}});
  add("values alone out of step with 16 bytes",
      {.d = 40, .seqlens_q = {9}, .seqlens_k = {70}, .v = {.gap = 5}});
  add("rows out of step with 16 bytes", {.h = 2,
                                         .d = 40,
                                         .seqlens_q = {30},
                                         .seqlens_k = {70},
                                         .is_causal = true,
                                         .q = {.gap = 3},
                                         .k = {.gap = 1},
                                         .v = {.gap = 5}});
  add("one head after the other", {.h = 4,
                                   .h_k = 2,
                                   .d = 64,
                                   .seqlens_q = {33},
                                   .seqlens_k = {65},
                                   .q = {.is_head_major = true},
                                   .k = {.is_head_major = true},
                                   .v = {.is_head_major = true, .gap = 8}});
  add("softcap", {.d = 64, .seqlens_q = {70}, .seqlens_k = {80}, .softmax_scale = 1, .softcap = 5});
  add("slopes, causal", {.h = 6,
                         .h_k = 2,
                         .d = 64,
                         .seqlens_q = {50},
                         .seqlens_k = {70},
                         .is_causal = true,
                         .has_alibi = true});
  add("slopes, both sides",
      {.h = 6, .h_k = 2, .d = 64, .seqlens_q = {50}, .seqlens_k = {128}, .has_alibi = true});
  add("prefix ranges", {.h = 2,
                        .d = 64,
                        .seqlens_q = {90, 90},
                        .seqlens_k = {130, 110},
                        .is_varlen = true,
                        .page_block_size = 32,
                        .is_causal = true,
                        .ranges = {{{50, 80}, {100, 125}}, {{-5, 30}, {25, 140}}}});
  add("prefix ranges on both sides of a window", {.d = 64,
                                                  .seqlens_q = {90},
                                                  .seqlens_k = {130},
                                                  .is_varlen = true,
                                                  .page_block_size = 16,
                                                  .left = 4,
                                                  .right = 2,
                                                  .ranges = {{{45, 80}, {20, 50}, {100, 128}}}});
  add("paged keys end with max_seqlen_k", {.d = 64,
                                           .seqlens_q = {40},
                                           .seqlens_k = {140},
                                           .is_varlen = true,
                                           .page_block_size = 32,
                                           .max_seqlen_k = 70,
                                           .is_causal = true});
  add("a scale below 0", {.d = 64, .seqlens_q = {30}, .seqlens_k = {90}, .softmax_scale = -0.2f});
  add("the largest padded dim of two tiles of columns",
      {.h = 2, .d = 120, .seqlens_q = {40}, .seqlens_k = {70}, .is_causal = true});
  add("one row of it", {.h = 2, .d = 120, .seqlens_q = {1}, .seqlens_k = {70}});
  // Split keys.
  add("split decode", {.h = 8,
                       .d = 64,
                       .seqlens_q = {1, 1},
                       .seqlens_k = {1500, 600},
                       .is_varlen = true,
                       .page_block_size = 64,
                       .is_causal = true})
      .num_multiprocessors = 8;
  add("split prefill of few heads, with rows that see no key",
      {.dtype = kBF16, .d = 64, .seqlens_q = {100}, .seqlens_k = {600}, .left = 3, .right = 400})
      .num_multiprocessors = 8;
  add("splits without keys", {.h = 2,
                              .d = 120,
                              .seqlens_q = {70, 1, 0},
                              .seqlens_k = {700, 0, 30},
                              .is_varlen = true,
                              .is_causal = true,
                              .has_alibi = true,
                              .uncovered_rows = 3})
      .num_multiprocessors = 16;
  add("more splits than lanes", {.h = 2, .d = 64, .seqlens_q = {1}, .seqlens_k = {9000}})
      .num_multiprocessors = 24;
  add("split decode in a window",
      {.h = 4, .d = 64, .seqlens_q = {1}, .seqlens_k = {1500}, .left = 900, .right = 0})
      .num_multiprocessors = 4;
  // Values that are not numbers where rows do not see them, and where they do.
  const std::vector<KernelCall::Spoiled> spoiled = {
      {3, 1, kInfinity}, {37, 0, kNaN}, {38, 63, -kInfinity}, {60, 16, kInfinity}, {61, 15, kNaN}};
  add("values that some rows must not see",
      {.h = 2, .h_k = 2, .d = 64, .seqlens_q = {70}, .seqlens_k = {70}, .is_causal = true})
      .spoiled_values = spoiled;
  add("an infinite value in an even column alone",
      {.d = 64, .seqlens_q = {70}, .seqlens_k = {70}, .is_causal = true})
      .spoiled_values = {{37, 4, kInfinity}};
  add("the same in bf16, in a window",
      {.dtype = kBF16, .h = 2, .d = 64, .seqlens_q = {9}, .seqlens_k = {70}, .left = 5, .right = 4})
      .spoiled_values = spoiled;
  return calls;
}

void run(AttentionCall& call, int num_schedules) {
  const std::vector<HostRegion> regions = call.regions();
  run_under_schedules(call.params(), {.regions = regions}, num_schedules);
}

}  // namespace

const std::vector<KernelCall>& kernel_calls() {
  static const std::vector<KernelCall> calls = make_kernel_calls();
  return calls;
}

KernelCall random_kernel_call(std::mt19937& rng) {
  KernelCall call{.shows = "a random call", .shape = random_shape(rng)};
  CallShape& s = call.shape;
  s.rounds_p = true;
  if (s.dtype == Dtype::kF32) s.dtype = kBF16;
  const auto one_in = [&](uint32_t n) { return rng() % n == 0; };
  if (one_in(20)) s.d = 8 * static_cast<int64_t>(1 + rng() % 64);
  if (one_in(8)) {  // enough keys to split
    call.num_multiprocessors = static_cast<int>(1 + rng() % 20);
    for (int64_t& keys : s.seqlens_k) keys *= 6;
    s.max_seqlen_k = -1;
  }
  if (one_in(6)) {
    const int64_t j = static_cast<int64_t>(rng() % 40), c = static_cast<int64_t>(rng()) % s.d;
    if (j < s.seqlens_k[0]) call.spoiled_values = {{j, c, one_in(2) ? kNaN : kInfinity}};
  }
  return call;
}

simt::Counters counters_of(const CallShape& shape) {
  simt::device().num_multiprocessors = 1;
  AttentionCall call(shape);
  simt::Counting counting;
  run(call, 1);
  return counting.counters;
}

std::optional<std::string> fault_of(const KernelCall& described, int num_schedules) {
  simt::device().num_multiprocessors = described.num_multiprocessors;
  try {
    AttentionCall call(described.shape);
    for (const auto& [j, c, value] : described.spoiled_values) call.set_v(0, j, 0, c, value);
    simt::Counting counting;
    run(call, num_schedules);
    if (const int64_t conflicts = counting.counters.ldmatrix_reads.conflicts() +
                                  counting.counters.cp_async_writes.conflicts()) {
      return described.shows + ": " + std::to_string(conflicts) + " bank conflicts";
    }
    if (const std::vector<std::string> faults = faults_of(call); !faults.empty()) {
      return described.shows + ": " + faults.front();
    }
  } catch (const std::exception& error) {
    return described.shows + ": " + error.what();
  }
  return std::nullopt;
}

}  // namespace flashcheck::testing
