#include "tests/compare/simulated_kernel.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace flashcheck::testing {
namespace {

constexpr float kLog2E = 1.4426950408889634f;
constexpr float kInfinity = std::numeric_limits<float>::infinity();

float f32_toward_zero(double value) {
  const float nearest = static_cast<float>(value);
  return std::fabs(static_cast<double>(nearest)) > std::fabs(value) ? std::nextafterf(nearest, 0.0f)
                                                                    : nearest;
}

/// One row of one head.
class RowKernel {
 public:
  RowKernel(const TestProblem& test, const Simulation& simulation, int64_t b, int64_t i, int64_t h)
      : test_(test),
        simulation_(simulation),
        b_(b),
        i_(i),
        h_(h),
        head_k_(h / (test.problem.num_heads / test.problem.num_heads_k)),
        sums_(static_cast<size_t>(test.problem.head_dim), 0.0f) {}

  void run(Output& output, int64_t flat_row) {
    const AttentionProblem& p = test_.problem;
    std::vector<int64_t> keys;
    for (int64_t j = 0; j < sequence().seqlen_k; ++j) {
      if (p.is_visible(b_, i_, j)) keys.push_back(j);
    }
    if (simulation_.drops_last_key && keys.size() > 1) keys.pop_back();
    const auto count = static_cast<int64_t>(keys.size());
    const int64_t num_tiles = (count + simulation_.tile - 1) / simulation_.tile;
    for (int64_t n = 0; n < num_tiles; ++n) {
      const int64_t tile = simulation_.descending ? num_tiles - 1 - n : n;
      const auto first = keys.begin() + tile * simulation_.tile;
      const auto last = keys.begin() + std::min(count, (tile + 1) * simulation_.tile);
      add_tile({first, last});
    }
    const float inverse = sum_ == 0 ? 1.0f : 1.0f / sum_;
    for (int64_t c = 0; c < p.head_dim; ++c) {
      output.out[static_cast<size_t>((flat_row * p.num_heads + h_) * p.head_dim + c)] = round_to(
          simulation_.out_dtype, static_cast<double>(sums_[static_cast<size_t>(c)] * inverse));
    }
    const int64_t lse_index = p.is_varlen ? h_ * p.total_q + flat_row
                                          : (b_ * p.num_heads + h_) * sequence().seqlen_q + i_;
    output.lse[static_cast<size_t>(lse_index)] =
        sum_ == 0 ? kInfinity : max_ / kLog2E + std::log(sum_);
  }

 private:
  const Sequence& sequence() const { return test_.problem.sequences[static_cast<size_t>(b_)]; }

  double read(int64_t storage, int64_t index) const {
    return read_element(test_.inputs.storages[static_cast<size_t>(storage)], test_.problem.dtype,
                        index);
  }

  float add(float a, double b) const {
    const double sum = static_cast<double>(a) + b;
    return simulation_.truncates ? f32_toward_zero(sum) : static_cast<float>(sum);
  }

  /// In units of log 2, as the exponentials want it.
  float logit(int64_t j) const {
    const AttentionProblem& p = test_.problem;
    float dot = 0;
    for (int64_t c = 0; c < p.head_dim; ++c) {
      const double q = read(test_.storages.q, q_address(p, b_, i_, h_) + c);
      const double k = read(test_.storages.k, kv_address(p, p.k, b_, j, head_k_) + c);
      dot = add(dot, static_cast<double>(static_cast<float>(q * k)));
    }
    const float scale = p.softmax_scale * simulation_.scale_factor;
    float x = dot * scale;
    if (p.softcap) x = *p.softcap * std::tanh(dot * (scale / *p.softcap));
    if (!p.alibi_slopes.empty()) {
      const float slope = p.alibi_slopes[static_cast<size_t>(h_)];
      const int64_t distance = std::abs(i_ + sequence().seqlen_k - sequence().seqlen_q - j);
      x += p.alibi_is_causal_form ? slope * static_cast<float>(j)
                                  : -slope * static_cast<float>(distance);
    }
    return x * kLog2E;
  }

  void add_tile(const std::vector<int64_t>& keys) {
    std::vector<float> logits;
    for (const int64_t j : keys) logits.push_back(logit(j));
    const float max = std::max(max_, *std::max_element(logits.begin(), logits.end()));
    const float rescale = max_ == -kInfinity ? 0.0f : std::exp2(max_ - max);
    max_ = max;
    sum_ *= rescale;
    for (float& sum : sums_) sum = round_sum(sum * rescale);
    for (size_t n = 0; n < keys.size(); ++n) {
      const float weight = std::exp2(logits[n] - max);
      sum_ += weight;
      const double rounded = simulation_.rounds_p
                                 ? round_to(test_.problem.dtype, static_cast<double>(weight))
                                 : static_cast<double>(weight);
      for (size_t c = 0; c < sums_.size(); ++c) {
        const int64_t address = kv_address(test_.problem, test_.problem.v, b_, keys[n], head_k_);
        const double v = read(test_.storages.v, address + static_cast<int64_t>(c));
        sums_[c] = round_sum(add(sums_[c], static_cast<double>(static_cast<float>(rounded * v))));
      }
    }
  }

  float round_sum(float sum) const {
    if (!simulation_.sums_in_f16) return sum;
    return static_cast<float>(round_to(Dtype::kF16, static_cast<double>(sum)));
  }

  const TestProblem& test_;
  const Simulation& simulation_;
  int64_t b_, i_, h_, head_k_;
  float max_ = -kInfinity, sum_ = 0;
  std::vector<float> sums_;
};

}  // namespace

Output simulate(const TestProblem& test, const Simulation& simulation) {
  const AttentionProblem& p = test.problem;
  Output output{.dtype = simulation.out_dtype};
  output.out.resize(static_cast<size_t>(p.total_q * p.num_heads * p.head_dim));
  output.lse.resize(static_cast<size_t>(p.total_q * p.num_heads));
  for (int64_t b = 0; b < p.batch_size(); ++b) {
    const Sequence& s = p.sequences[static_cast<size_t>(b)];
    for (int64_t i = 0; i < s.seqlen_q; ++i) {
      for (int64_t h = 0; h < p.num_heads; ++h) {
        RowKernel(test, simulation, b, i, h).run(output, s.q_start + i);
      }
    }
  }
  return output;
}

}  // namespace flashcheck::testing
