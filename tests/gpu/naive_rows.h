#pragma once

#include <cstdint>
#include <vector>

#include "tests/gpu/bench_inputs.h"

namespace flashcheck::bench {

/// A row of the output.
struct RowIndex {
  int64_t sequence, token, head;
};

/// First and last ones and some between.
std::vector<RowIndex> sampled_rows(const BenchShape& shape);

/// How far rows of out are from softmax(scale q K^T) V, worked out on the device in double, step by
/// step, with addresses of its own: the largest |out - expected| / |expected| of a row, in the
/// Euclidean norm. NaN if some row's is, so the test is !(error <= bound).
///
/// kRowErrorBound is 20 times what rounding P and out to f16 makes of it, and less than what a loss
/// of 16 of 128k keys makes of it: sqrt(16 / 2^17) = 1.1 %. It shows that a timed launch did its
/// work; that the kernel is right, cases show.
double largest_row_error(const BenchInputs& inputs, int64_t copy,
                         const std::vector<RowIndex>& rows);
inline constexpr double kRowErrorBound = 0x1p-7;

/// Whether every element of out is a number: out was filled with NaN before the first launch.
bool is_all_numbers(const BenchInputs& inputs);

}  // namespace flashcheck::bench
