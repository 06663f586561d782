#include "reference/dense_products.h"

#include <algorithm>
#include <cmath>
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

void times_keys(const Products& products, Of of, const std::vector<double>& q,
                const std::vector<double>& k, int64_t head_dim, KeyBlock& scores) {
  const std::vector<double> a = apply(of, q.data(), static_cast<int64_t>(q.size()));
  for (int64_t j = 0; j < scores.num_keys; j += kSlice) {
    const int64_t count = std::min(kSlice, scores.num_keys - j);
    const std::vector<double> b =
        apply(of, k.data() + (scores.first_key + j) * head_dim, count * head_dim);
    const GemmShape shape{.transpose_b = Transpose::kYes,
                          .m = scores.num_lines,
                          .n = count,
                          .k = head_dim,
                          .lda = head_dim,
                          .ldb = head_dim,
                          .ldc = scores.num_keys};
    products.gemm(shape, a.data(), b.data(), 0, scores.values.data() + j);
  }
}

std::vector<double> times_values(const Products& products, Of of, const KeyBlock& weights,
                                 const std::vector<double>& v, int64_t head_dim) {
  std::vector<double> product(static_cast<size_t>(weights.num_lines * head_dim));
  for (int64_t j = 0; j < weights.num_keys; j += kSlice) {
    const int64_t count = std::min(kSlice, weights.num_keys - j);
    const std::vector<double> b =
        apply(of, v.data() + (weights.first_key + j) * head_dim, count * head_dim);
    const GemmShape shape{.m = weights.num_lines,
                          .n = head_dim,
                          .k = count,
                          .lda = weights.num_keys,
                          .ldb = head_dim,
                          .ldc = head_dim};
    products.gemm(shape, weights.values.data() + j, b.data(), 1, product.data());
  }
  return product;
}

}  // namespace flashcheck
