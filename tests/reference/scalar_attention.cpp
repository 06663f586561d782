#include "tests/reference/scalar_attention.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace flashcheck::testing {
namespace {

void add_row(const TestProblem& test, int64_t b, int64_t i, int64_t h, ScalarAttention& result) {
  const AttentionProblem& p = test.problem;
  const Sequence& s = p.sequences[static_cast<size_t>(b)];
  const int64_t head_k = h / (p.num_heads / p.num_heads_k);
  const auto element = [&](int64_t storage, int64_t index) {
    return read_element(test.inputs.storages[static_cast<size_t>(storage)], p.dtype, index);
  };
  std::vector<double> weights(static_cast<size_t>(s.seqlen_k), 0.0);
  double sum = 0, max_logit = 0, max_dot = 0;
  int64_t visible = 0;
  for (int64_t j = 0; j < s.seqlen_k; ++j) {
    if (!p.is_visible(b, i, j)) continue;
    double dot = 0, dot_magnitude = 0;
    for (int64_t c = 0; c < p.head_dim; ++c) {
      const double q = element(test.storages.q, q_address(p, b, i, h) + c);
      const double k = element(test.storages.k, kv_address(p, p.k, b, j, head_k) + c);
      dot += q * k;
      dot_magnitude += std::fabs(q * k);
    }
    double x = dot * static_cast<double>(p.softmax_scale);
    if (p.softcap)
      x = std::tanh(x / static_cast<double>(*p.softcap)) * static_cast<double>(*p.softcap);
    if (!p.alibi_slopes.empty()) {
      const double slope = static_cast<double>(p.alibi_slopes[static_cast<size_t>(h)]);
      const double distance = static_cast<double>(std::abs(i + s.seqlen_k - s.seqlen_q - j));
      x = p.alibi_is_causal_form ? x + slope * static_cast<double>(j) : x - slope * distance;
    }
    weights[static_cast<size_t>(j)] = std::exp(x);  // tests keep logits small enough
    sum += weights[static_cast<size_t>(j)];
    max_logit = std::max(max_logit, std::fabs(x));
    max_dot = std::max(max_dot, dot_magnitude);
    ++visible;
  }
  for (int64_t c = 0; c < p.head_dim; ++c) {
    double out = 0, magnitude = 0;
    for (int64_t j = 0; j < s.seqlen_k; ++j) {
      if (!p.is_visible(b, i, j)) continue;
      const double v = element(test.storages.v, kv_address(p, p.v, b, j, head_k) + c);
      out += weights[static_cast<size_t>(j)] / sum * v;
      magnitude += weights[static_cast<size_t>(j)] / sum * std::fabs(v);
    }
    result.out.push_back(out);
    result.magnitude.push_back(magnitude);
  }
  result.lse.push_back(visible == 0 ? std::numeric_limits<double>::infinity() : std::log(sum));
  result.max_logit.push_back(max_logit);
  result.max_dot.push_back(max_dot);
  result.visible.push_back(visible);
  for (double& weight : weights) weight = weight == 0 ? 0 : weight / sum;
  result.weights.push_back(std::move(weights));
}

}  // namespace

ScalarAttention scalar_attention(const TestProblem& test) {
  ScalarAttention result;
  for (int64_t b = 0; b < test.problem.batch_size(); ++b) {
    for (int64_t i = 0; i < test.problem.sequences[static_cast<size_t>(b)].seqlen_q; ++i) {
      for (int64_t h = 0; h < test.problem.num_heads; ++h) add_row(test, b, i, h, result);
    }
  }
  return result;
}

}  // namespace flashcheck::testing
