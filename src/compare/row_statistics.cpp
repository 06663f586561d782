#include "src/compare/row_statistics.h"

#include <algorithm>
#include <cmath>

namespace flashcheck {
namespace {

bool is_modelled(const AttentionProblem& problem) {
  return problem.dtype != Dtype::kF32 && problem.arithmetic == Arithmetic{};
}

/// The distance between neighbours of a dtype near `value`.
double spacing(Dtype dtype, double value) {
  const double magnitude = std::fabs(value);
  if (magnitude == 0) return smallest_subnormal(dtype);
  return std::max(std::ldexp(2 * unit_roundoff(dtype), std::ilogb(magnitude)),
                  smallest_subnormal(dtype));
}

}  // namespace

bool is_statistical_outlier(const AttentionProblem& problem, Dtype out_dtype,
                            const Reference& expected, const Pairing& pairing, size_t line) {
  if (!is_modelled(problem) || expected.visible[line] == 0) return false;
  const double p_roundoff = unit_roundoff(problem.dtype);
  double z_squared = 0;
  for (int64_t c = 0; c < problem.head_dim; ++c) {
    const size_t element = pairing.element(line, c);
    const double error = pairing.actual(line, c) - expected.out[element];
    const double ulp = spacing(out_dtype, expected.out[element]);
    const double variance =
        p_roundoff * p_roundoff / 3 * expected.squares[element] + ulp * ulp / 12;
    z_squared += error * error / variance;
  }
  // The columns share the roundings of P: with few keys that count they are no d independent tries.
  const double dims = static_cast<double>(problem.head_dim);
  const double spread = 2 * dims * std::max(1.0, dims * expected.concentration[line]);
  return !(z_squared <= dims + 10 * std::sqrt(spread));
}

}  // namespace flashcheck
