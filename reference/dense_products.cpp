#include "reference/dense_products.h"

#include <algorithm>
#include <cmath>

#include "reference/gemm.h"

namespace flashcheck {
namespace {

constexpr int64_t kSlice = 256;  // keys: f(K) is made in pieces, so that it is never kept whole

std::vector<double> apply(Of of, const double* begin, int64_t count) {
  std::vector<double> applied(begin, begin + count);
  if (of == Of::kItself) return applied;
  for (double& x : applied) x = of == Of::kMagnitude ? std::fabs(x) : x * x;
  return applied;
}

}  // namespace

void times_keys(Of of, const std::vector<double>& q, const std::vector<double>& k, int64_t head_dim,
                KeyBlock& scores) {
  const std::vector<double> a = apply(of, q.data(), static_cast<int64_t>(q.size()));
  for (int64_t j = 0; j < scores.num_keys; j += kSlice) {
    const int64_t count = std::min(kSlice, scores.num_keys - j);
    const std::vector<double> b =
        apply(of, k.data() + (scores.first_key + j) * head_dim, count * head_dim);
    gemm(Transpose::kYes, scores.num_lines, count, head_dim, a.data(), head_dim, b.data(), head_dim,
         0, scores.values.data() + j, scores.num_keys);
  }
}

std::vector<double> times_values(Of of, const KeyBlock& weights, const std::vector<double>& v,
                                 int64_t head_dim) {
  std::vector<double> product(static_cast<size_t>(weights.num_lines * head_dim));
  for (int64_t j = 0; j < weights.num_keys; j += kSlice) {
    const int64_t count = std::min(kSlice, weights.num_keys - j);
    const std::vector<double> b =
        apply(of, v.data() + (weights.first_key + j) * head_dim, count * head_dim);
    gemm(Transpose::kNo, weights.num_lines, head_dim, count, weights.values.data() + j,
         weights.num_keys, b.data(), head_dim, 1, product.data(), head_dim);
  }
  return product;
}

}  // namespace flashcheck
