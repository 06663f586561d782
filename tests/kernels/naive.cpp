#include <algorithm>
#include <cmath>

#include "tests/kernels/attention_call.h"

namespace flashcheck::testing {
namespace {

bool sees(const CallShape& s, size_t sequence, int64_t i, int64_t j) {
  const int64_t seqlen_k = s.seqlens_k[sequence];
  if (j >= seqlen_k) return false;
  if (s.page_block_size > 0 && s.max_seqlen_k >= 0) {
    int64_t cap = s.max_seqlen_k;
    while (cap % 32 != 0) ++cap;
    if (j >= cap) return false;
  }
  const int64_t diagonal = i + seqlen_k - s.seqlens_q[sequence];
  if (s.is_causal && j <= diagonal) return true;
  if (!s.is_causal) {
    const int64_t distance = j - diagonal;
    const bool is_too_far_left = s.left >= 0 && -distance > s.left;
    const bool is_too_far_right = s.right >= 0 && distance > s.right;
    if (!is_too_far_left && !is_too_far_right) return true;
  }
  if (s.ranges.empty()) return false;
  for (const auto& [begin, end] : s.ranges[sequence]) {
    if (diagonal >= begin && diagonal < end && j >= begin && j < end) return true;
  }
  return false;
}

}  // namespace

NaiveRow naive_row(const AttentionCall& call, int64_t sequence, int64_t i, int64_t head) {
  const CallShape& s = call.shape;
  const auto b = static_cast<size_t>(sequence);
  const int64_t kv_head = head / (s.h / s.h_k);
  const double scale = double{s.softmax_scale};

  std::vector<int64_t> keys;
  std::vector<double> logits;
  double max_argument = 0, max_dot = 0;
  for (int64_t j = 0; j < s.seqlens_k[b]; ++j) {
    if (!sees(s, b, i, j)) continue;
    double dot = 0, magnitude = 0;
    for (int64_t c = 0; c < s.d; ++c) {
      const double product = call.q(sequence, i, head, c) * call.k(sequence, j, kv_head, c);
      dot += product;
      magnitude += std::fabs(product);
    }
    double logit = scale * dot;
    if (s.softcap > 0) logit = s.softcap * std::tanh(logit / s.softcap);
    double bias = 0;
    if (s.has_alibi) {
      const double distance =
          std::fabs(static_cast<double>(i + s.seqlens_k[b] - s.seqlens_q[b] - j));
      const double slope = double{call.slopes[static_cast<size_t>(head)]};
      bias = s.is_causal ? slope * static_cast<double>(j) : -slope * distance;
    }
    max_argument = std::max(max_argument, std::fabs(logit) + std::fabs(bias));
    max_dot = std::max(max_dot, magnitude);
    keys.push_back(j);
    logits.push_back(logit + bias);
  }

  const auto n = static_cast<double>(keys.size());
  NaiveRow row;
  row.visible = static_cast<int64_t>(keys.size());
  row.out.assign(static_cast<size_t>(s.d), 0.0);
  row.bound.assign(static_cast<size_t>(s.d), 0.0);
  row.lse = HUGE_VAL;
  if (keys.empty()) return row;

  const double max = *std::ranges::max_element(logits);
  double sum = 0;
  for (const double x : logits) sum += std::exp(x - max);
  row.lse = max + std::log(sum);

  // The worst case of the arithmetic the kernel may do: dots of d products in f32, logits in f32
  // (four roundings each, tanh among them), P rounded once, sums in f32, the output rounded once.
  const double f32 = std::ldexp(1.0, -23);
  const double logit_error =
      std::fabs(scale) * (static_cast<double>(s.d) + 2) * f32 * max_dot + 4 * max_argument * f32;
  const double p_error = s.rounds_p && s.dtype != Dtype::kF32 ? unit_roundoff(s.dtype) : 0;
  const double share = p_error + 2 * logit_error + (n + 4 * (n / 64 + 1) + 16) * f32;
  // A P below the dtype's smallest normal number loses relative accuracy.
  const double p_floor = s.rounds_p ? smallest_subnormal(s.dtype) * n : 0;
  for (int64_t c = 0; c < s.d; ++c) {
    double out = 0, magnitude = 0, largest = 0;
    for (size_t r = 0; r < keys.size(); ++r) {
      const double v = call.v(sequence, keys[r], kv_head, c);
      const double p = std::exp(logits[r] - max) / sum;
      out += p * v;
      magnitude += p * std::fabs(v);
      largest = std::max(largest, std::fabs(v));
    }
    row.out[static_cast<size_t>(c)] = out;
    row.bound[static_cast<size_t>(c)] =
        1.02 * (magnitude * share + unit_roundoff(s.dtype) * std::fabs(out)) + p_floor * largest +
        smallest_subnormal(s.dtype);
  }
  row.lse_bound = logit_error + (n + 20) * f32 + 2 * f32 * std::fabs(row.lse);
  return row;
}

std::vector<std::string> faults_of(const AttentionCall& call) {
  std::vector<std::string> faults;
  for (size_t b = 0; b < call.shape.seqlens_q.size(); ++b) {
    const auto sequence = static_cast<int64_t>(b);
    for (int64_t i = 0; i < call.shape.seqlens_q[b]; ++i) {
      for (int64_t head = 0; head < call.shape.h; ++head) {
        const NaiveRow expected = naive_row(call, sequence, i, head);
        const auto report = [&](const std::string& what, double actual, double wanted) {
          faults.push_back("sequence " + std::to_string(sequence) + ", row " + std::to_string(i) +
                           ", head " + std::to_string(head) + ", " + what + " is " +
                           std::to_string(actual) + ", and should be " + std::to_string(wanted));
        };
        const auto lse = double{call.lse(sequence, i, head)};
        const bool lse_is_right = expected.visible == 0
                                      ? lse == HUGE_VAL
                                      : std::fabs(lse - expected.lse) <= expected.lse_bound;
        if (!lse_is_right) report("lse", lse, expected.lse);
        for (int64_t c = 0; c < call.shape.d; ++c) {
          const double actual = call.out(sequence, i, head, c);
          const double wanted = expected.out[static_cast<size_t>(c)];
          const bool is_right = std::isfinite(wanted) ? std::fabs(actual - wanted) <=
                                                            expected.bound[static_cast<size_t>(c)]
                                                      : !std::isfinite(actual);
          if (is_right) continue;
          report("column " + std::to_string(c), actual, wanted);
          if (faults.size() > 3) return faults;  // enough to see what is wrong
        }
      }
    }
  }
  if (call.num_stray_bytes() > 0) {
    faults.push_back(std::to_string(call.num_stray_bytes()) + " bytes that no row owns changed");
  }
  return faults;
}

CallShape random_shape(std::mt19937& rng) {
  const auto below = [&rng](int64_t n) {
    return std::uniform_int_distribution<int64_t>(0, n - 1)(rng);
  };
  const auto one_of = [&](std::initializer_list<int64_t> values) {
    return values.begin()[below(static_cast<int64_t>(values.size()))];
  };
  CallShape s;
  s.dtype = static_cast<Dtype>(
      one_of({static_cast<int64_t>(Dtype::kF16), static_cast<int64_t>(Dtype::kBF16),
              static_cast<int64_t>(Dtype::kF32)}));
  s.h_k = one_of({1, 1, 2, 3});
  s.h = s.h_k * one_of({1, 1, 2, 3, 5, 8});
  s.d = one_of({8, 8, 16, 24, 32, 40, 64, 72, 128});
  s.is_varlen = below(3) > 0;
  if (s.is_varlen && below(2) == 0) s.page_block_size = one_of({1, 2, 3, 7, 16, 32, 33, 64});
  const int64_t batch = 1 + below(3);
  const int64_t longest = s.d > 32 ? 40 : 110;
  s.seqlens_q.clear();
  s.seqlens_k.clear();
  for (int64_t b = 0; b < batch; ++b) {
    if (b > 0 && !s.is_varlen) {
      s.seqlens_q.push_back(s.seqlens_q[0]);
      s.seqlens_k.push_back(s.seqlens_k[0]);
      continue;
    }
    s.seqlens_q.push_back(below(4) == 0 ? 1 : below(longest / 2));
    s.seqlens_k.push_back(below(5) == 0 ? s.seqlens_q.back() : below(longest));
  }
  if (s.page_block_size > 0 && below(4) == 0) s.max_seqlen_k = below(longest);
  const int64_t kind = below(3);
  s.is_causal = kind == 1;
  if (kind == 2) {
    s.left = below(3) == 0 ? -1 : below(longest / 2);
    s.right = s.left < 0 || below(3) > 0 ? below(longest / 2) : -1;
  }
  s.softmax_scale = static_cast<float>(1.0 / std::sqrt(static_cast<double>(s.d)));
  if (below(4) == 0) s.softcap = static_cast<float>(1 + below(20));
  if (s.page_block_size == 0) {
    s.has_alibi = below(4) == 0;
  } else if (below(2) == 0) {
    for (int64_t b = 0; b < batch; ++b) {
      s.ranges.emplace_back();
      for (int64_t r = below(4); r > 0; --r) {
        const int64_t begin = below(longest) - 5;
        s.ranges.back().emplace_back(static_cast<int>(begin),
                                     static_cast<int>(begin + below(longest / 2) - 3));
      }
    }
  }
  s.rounds_p = below(4) > 0;
  for (RowLayout* layout : {&s.q, &s.k, &s.v}) {
    *layout = {.is_head_major = below(3) == 0, .gap = one_of({0, 0, 3, 8})};
  }
  s.uncovered_rows = below(3);
  s.seed = static_cast<uint32_t>(rng());
  return s;
}

}  // namespace flashcheck::testing
