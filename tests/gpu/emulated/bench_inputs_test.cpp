// The benchmark's own parts, on the emulated device: a script that is tried for the first time on a
// machine that is lent by the minute must not fail there.
#include "tests/gpu/bench_inputs.h"

#include <doctest/doctest.h>

#include "kernels/cuda/launch.h"
#include "tests/gpu/naive_rows.h"

namespace flashcheck::bench {
namespace {

using Kind = BenchShape::Kind;

// One of each kind; the second and third split their keys on a device of four multiprocessors.
const std::vector<BenchShape> kShapes = {
    {Kind::kPrefill, 2, 40, 40, 2, 2, 64, 0, true},
    {Kind::kPrefill, 1, 24, 40, 2, 2, 128, 0, false},
    {Kind::kDecode, 2, 1, 600, 8, 2, 64, 16, true},
    {Kind::kDecode, 1, 8, 600, 8, 1, 64, 64, true},
    {Kind::kChunk, 1, 24, 320, 4, 1, 64, 16, true},
};

void launch(const BenchInputs& inputs, int64_t copy) {
  launch_attention(inputs.params(copy), inputs.plan(), /*stream=*/nullptr);
}

}  // namespace

TEST_CASE("a timed launch's output is known to be right") {
  for (const BenchShape& shape : kShapes) {
    CAPTURE(name_of(shape.kind));
    CAPTURE(shape.seqlen_q);
    const BenchInputs inputs(shape, 1, {.num_multiprocessors = 4});
    CHECK(!is_all_numbers(inputs));  // nothing was written yet
    launch(inputs, 0);
    CHECK(is_all_numbers(inputs));
    const double error = largest_row_error(inputs, 0, sampled_rows(shape));
    CHECK(error > 0);
    CHECK(error <= kRowErrorBound);
  }
}

TEST_CASE("an output of other inputs is known to be wrong") {
  for (const BenchShape& shape : kShapes) {
    const BenchInputs inputs(shape, BenchInputs::copy_bytes(shape), {.num_multiprocessors = 4});
    REQUIRE(inputs.num_copies() == 5);
    launch(inputs, 3);
    CHECK(largest_row_error(inputs, 3, sampled_rows(shape)) <= kRowErrorBound);
    CHECK(!(largest_row_error(inputs, 2, sampled_rows(shape)) <= kRowErrorBound));
  }
}

TEST_CASE("a row that was never written is known to be wrong") {
  const BenchInputs inputs(kShapes[0], 1, {.num_multiprocessors = 4});
  CHECK(!(largest_row_error(inputs, 0, sampled_rows(kShapes[0])) <= kRowErrorBound));
}

TEST_CASE("useful work is what the mask leaves") {
  const BenchShape square = {Kind::kPrefill, 2, 4, 4, 3, 3, 64, 0, true};
  CHECK(square.visible_pairs() == 1 + 2 + 3 + 4);
  CHECK(square.useful_flops() == 2 * 3 * 10 * 4 * 64);
  const BenchShape last_two = {Kind::kDecode, 1, 2, 10, 8, 1, 128, 16, true};
  CHECK(last_two.visible_pairs() == 9 + 10);
  CHECK(last_two.kv_bytes() == 2 * 10 * 128 * 2);
}

}  // namespace flashcheck::bench
