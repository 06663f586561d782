#include "src/compare/bound.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace flashcheck {
namespace {

constexpr double kUlp = 0x1p-23;       // of f32 at 1: one operation, rounded in any direction
constexpr double kRoundoff = 0x1p-24;  // one f32 operation, rounded to nearest
constexpr double kF16Roundoff = 0x1p-11;
constexpr double kF16Floor = 0x1p-25;  // half of f16's smallest subnormal
constexpr double kFlush = 0x1p-126;    // an f32 below it may become 0
constexpr double kLargestF16 = 65504;

constexpr double kExpUlps = 2;                // of one exponential
constexpr double kArgumentUlps = 5;           // of its argument, relative to the largest logit
constexpr double kCapUlps = 2;                // of the cap's division and products
constexpr double kTanhUlps = 8;               // of a tanh in f32
constexpr double kTanhApproximate = 0x1p-11;  // of the GPU's tanh.approx.f32
constexpr double kAlibiUlps = 2;
constexpr double kDivisionUlps = 3;
constexpr double kLogUlps = 4;
constexpr double kLogFloor = 0x1p-21;  // of the GPU's log near 1
constexpr int64_t kSmallestTile = 32;  // keys

/// What one f32 accumulation may lose: matrix units truncate, and only f32 inputs are sure not to
/// go through one.
double accumulation_error(Dtype dtype) { return dtype == Dtype::kF32 ? kRoundoff : kUlp; }

/// delta: the error of a logit and of the exponential's argument.
double argument_error(const AttentionProblem& problem, const Arithmetic& arithmetic,
                      double max_logit, double max_dot_magnitude) {
  const double scale = std::fabs(static_cast<double>(problem.softmax_scale));
  const double dot = scale * max_dot_magnitude;
  double error =
      dot * static_cast<double>(problem.head_dim + 2) * accumulation_error(problem.dtype) +
      kArgumentUlps * kUlp * max_logit;
  double unbiased = dot;
  if (problem.softcap) {
    const double cap = static_cast<double>(*problem.softcap);
    const double tanh_error =
        arithmetic.tanh == Arithmetic::Tanh::kApproximate ? kTanhApproximate : kTanhUlps * kUlp;
    unbiased = std::min(cap, dot);
    error += unbiased * (kCapUlps * kUlp + tanh_error);
  }
  if (!problem.alibi_slopes.empty()) error += kAlibiUlps * kUlp * (max_logit + unbiased);
  return error;
}

}  // namespace

RowBound::RowBound(const AttentionProblem& problem, const Arithmetic& arithmetic, Dtype out_dtype,
                   const Reference& expected, size_t position)
    : expected_(expected),
      arithmetic_(arithmetic),
      out_dtype_(out_dtype),
      p_is_rounded_(problem.dtype != Dtype::kF32 && arithmetic.p == Arithmetic::P::kInput),
      num_keys_(static_cast<double>(expected.visible[position])),
      num_rises_(static_cast<double>(expected.max_rises[position])),
      max_logit_(expected.max_logit[position]),
      largest_weight_(expected.largest_weight[position]),
      lse_(expected.lse[position]),
      small_p_is_known_(p_is_rounded_ || problem.dtype != Dtype::kF16) {
  const double tiles =
      static_cast<double>((expected.visible[position] + kSmallestTile - 1) / kSmallestTile);
  const double rescales = num_rises_ + tiles;
  const double exponentials =
      argument_error(problem, arithmetic, max_logit_, expected.max_dot_magnitude[position]) +
      kExpUlps * kUlp * (1 + rescales);
  const double p_roundoff = p_is_rounded_ ? unit_roundoff(problem.dtype) : 0;
  weight_error_ = (1 + p_roundoff) * std::exp(exponentials + rescales * kRoundoff +
                                              (num_keys_ + 1) * accumulation_error(problem.dtype)) -
                  1;
  divisor_error_ = std::expm1(exponentials + (rescales + num_keys_) * kRoundoff);
}

double RowBound::out(size_t element) const {
  if (num_keys_ == 0) return 0;  // such a row is exactly 0
  if (!(divisor_error_ < 1)) return std::numeric_limits<double>::infinity();
  const double magnitude = expected_.magnitude[element];
  const double exact = std::fabs(expected_.out[element]);

  double numerator = weight_error_ * magnitude;
  // Numbers too small for P, and for f32 itself.
  numerator += small_p_is_known_ ? expected_.small_magnitude[element]
                                 : num_keys_ * kFlush * kLargestF16 * largest_weight_;
  numerator += 2 * (num_keys_ + num_rises_ + 2) * kFlush * largest_weight_;
  if (arithmetic_.accumulate == Arithmetic::Accumulate::kF16) {
    const double roundings = num_keys_ + num_rises_ + 1;
    const double sums =
        expected_.partial_sums.empty() ? roundings * magnitude : expected_.partial_sums[element];
    const double second_order = (1 + weight_error_) * std::exp(kF16Roundoff * roundings);
    numerator += kF16Roundoff * (sums * second_order + magnitude + exact) +
                 kF16Floor * (roundings + num_keys_) * largest_weight_;
  }
  const double computed =
      (numerator + divisor_error_ * exact) / (1 - divisor_error_) + kDivisionUlps * kUlp * exact;
  const double smallest =
      out_dtype_ == Dtype::kF16 ? kF16Floor : std::max(kFlush, smallest_subnormal(out_dtype_));
  return computed + unit_roundoff(out_dtype_) * (exact + computed) + smallest;
}

double RowBound::lse() const {
  if (!(divisor_error_ < 1)) return std::numeric_limits<double>::infinity();
  return -std::log1p(-divisor_error_) + kLogUlps * kUlp * (std::fabs(lse_) + max_logit_) +
         kLogFloor;
}

double overflow_threshold(Dtype dtype) {
  const double roundoff = unit_roundoff(dtype);
  switch (dtype) {
    case Dtype::kF16:
      return std::ldexp(2 - roundoff, 15);
    case Dtype::kBF16:
    case Dtype::kF32:
      return std::ldexp(2 - roundoff, 127);
    default:
      return std::numeric_limits<double>::infinity();
  }
}

}  // namespace flashcheck
