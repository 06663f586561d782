#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "src/compare/bound.h"
#include "src/compare/comparison.h"
#include "tests/compare/simulated_kernel.h"
#include "tests/reference/problems.h"

using namespace flashcheck;
using namespace flashcheck::testing;

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

/// The truth itself as an output in double, so that a test can put exact errors into it.
struct Exact {
  TestProblem test;
  Reference reference;
  Output output;

  explicit Exact(TestProblem made) : test(std::move(made)), reference(test.reference()) {
    output.dtype = test.problem.dtype;
    output.out.resize(
        static_cast<size_t>(test.problem.total_q * test.problem.num_heads * test.problem.head_dim));
    // Rows of the tests lie one after the other, as those of the reference do.
    std::copy(reference.out.begin(), reference.out.end(), output.out.begin());
  }
  Comparison compared() const { return compare(test.problem, output, reference); }
  double bound(size_t element) const {
    const size_t line = element / static_cast<size_t>(test.problem.head_dim);
    return RowBound(test.problem, test.problem.arithmetic, output.dtype, reference, line)
        .out(element);
  }
};

Exact small() { return Exact(make_problem({.lengths = {{3, 5}, {2, 9}}}, 1)); }

}  // namespace

TEST_CASE("the truth has no error") {
  const Exact exact = small();
  const Comparison comparison = exact.compared();
  CHECK(comparison.num_rows == 5);
  CHECK(comparison.num_rows_checked == 5);
  CHECK(comparison.num_elements == 5 * 2 * 8);
  CHECK(comparison.max_ratio == 0);
  CHECK(comparison.num_mismatched == 0);
  CHECK(comparison.worst.empty());
  CHECK(comparison.num_lse_checked == 0);
  CHECK_FALSE(comparison.fits.has_value());
  CHECK(comparison.fa2_ratio == 0);
}

TEST_CASE("an error just within the bound passes, just beyond it fails") {
  Exact exact = small();
  const double truth = exact.output.out[37], bound = exact.bound(37);
  exact.output.out[37] = truth + bound * (1 - 1e-9);
  CHECK(exact.compared().num_mismatched == 0);
  CHECK(exact.compared().max_ratio == doctest::Approx(1).epsilon(1e-8));

  exact.output.out[37] = truth - bound * (1 + 1e-9);
  const Comparison comparison = exact.compared();
  CHECK(comparison.num_mismatched == 1);
  CHECK(comparison.num_wrong_rows == 1);
  REQUIRE(comparison.worst.size() == 1);
  const Mismatch& worst = comparison.worst[0];  // 37 = (row 2, head 0, column 5)
  CHECK(worst.sequence == 0);
  CHECK(worst.row == 2);
  CHECK(worst.head == 0);
  CHECK(worst.column == 5);
  CHECK(worst.expected == truth);
  CHECK(worst.bound == bound);
  CHECK(worst.ratio() == doctest::Approx(1).epsilon(1e-8));
}

TEST_CASE("an error of exactly the bound passes") {
  // A row without keys: truth 0 and bound 0.
  TestProblem made = make_problem({.lengths = {{2, 1}}}, 1);
  made.problem.window_size_right = 0;
  Exact exact(std::move(made));
  CHECK(exact.bound(0) == 0);
  CHECK(exact.compared().num_mismatched == 0);
  exact.output.out[0] = -0.0;
  CHECK(exact.compared().num_mismatched == 0);
  exact.output.out[0] = smallest_subnormal(Dtype::kF16);
  CHECK(exact.compared().num_mismatched == 1);
  CHECK(std::isinf(exact.compared().max_ratio));
}

TEST_CASE("NaN fails, and so does infinity") {
  Exact exact = small();
  exact.output.out[3] = kNaN;
  exact.output.out[50] = -kInfinity;
  const Comparison comparison = exact.compared();
  CHECK(comparison.num_mismatched == 2);
  CHECK(comparison.num_nonfinite == 2);
  REQUIRE(comparison.worst.size() == 2);
  CHECK(std::isnan(comparison.worst[0].actual));
  CHECK(std::isinf(comparison.worst[0].ratio()));
  CHECK_FALSE(comparison.fa2_ratio.has_value());
}

TEST_CASE("infinity may stand for a number that may round to it") {
  TestProblem made = make_problem({.num_heads = 1, .lengths = {{1, 4}}}, 2);
  for (int64_t n = 0; n < 32; ++n) write_element(made.inputs.storages[2], Dtype::kF16, n, 65504);
  Exact exact(std::move(made));
  exact.output.out[0] = kInfinity;
  CHECK(exact.compared().num_mismatched == 0);
  exact.output.out[0] = -kInfinity;
  CHECK(exact.compared().num_mismatched == 1);
}

TEST_CASE("where the truth is NaN a number is wrong") {
  TestProblem made = make_problem({.num_heads = 1, .lengths = {{1, 4}}}, 2);
  write_element(made.inputs.storages[2], Dtype::kF16, 5, kNaN);
  Exact exact(std::move(made));
  CHECK(exact.compared().num_mismatched == 0);
  exact.output.out[5] = 0.5;
  CHECK(exact.compared().num_mismatched == 1);
  CHECK(exact.compared().num_nonfinite == 0);
}

TEST_CASE("the worst eight, worst first, then by position") {
  Exact exact = small();
  for (size_t n = 0; n < 12; ++n) {
    exact.output.out[n * 5] += exact.bound(n * 5) * (n < 10 ? 3 + static_cast<double>(n) : 100);
  }
  const Comparison comparison = exact.compared();
  CHECK(comparison.num_mismatched == 12);
  REQUIRE(comparison.worst.size() == 8);
  for (size_t n = 1; n < 8; ++n) {
    CHECK(comparison.worst[n - 1].ratio() >= comparison.worst[n].ratio());
  }
  CHECK(comparison.max_ratio == doctest::Approx(100));
  CHECK(comparison.median_ratio == 0);
}

TEST_CASE("a paged row names the pages it sees, in order and once") {
  TestProblem made =
      make_problem({.layout = Layout::kPaged, .lengths = {{2, 18}}, .page_block_size = 4}, 3);
  made.problem.window_size_left = 5;
  made.problem.window_size_right = 0;
  made.problem.block_table[0][3] = made.problem.block_table[0][2];
  const std::vector<int64_t> table = made.problem.block_table[0];
  Exact exact(std::move(made));
  exact.output.out[16] += 1;  // row 1: position 17, keys 12 to 17
  REQUIRE(exact.compared().worst.size() == 1);
  CHECK(exact.compared().worst[0].visible_pages == std::vector<int64_t>{table[3], table[4]});
  exact.output.out[0] += 2;  // row 0: position 16, keys 11 to 16
  CHECK(exact.compared().worst[0].visible_pages == std::vector<int64_t>{table[2], table[4]});
}

TEST_CASE("lse: either layout, +inf where no key is seen") {
  for (const Layout layout : {Layout::kFixed, Layout::kVarlen}) {
    TestProblem made =
        make_problem({.layout = layout, .num_heads = 3, .lengths = {{4, 2}, {4, 2}}}, 4);
    made.problem.window_size_right = 0;
    Exact exact(std::move(made));
    exact.output.lse.resize(24);
    for (int64_t b = 0; b < 2; ++b) {
      for (int64_t i = 0; i < 4; ++i) {
        for (int64_t h = 0; h < 3; ++h) {
          const double lse = exact.reference.lse[static_cast<size_t>((b * 4 + i) * 3 + h)];
          const int64_t at = layout == Layout::kFixed ? (b * 3 + h) * 4 + i : h * 8 + b * 4 + i;
          exact.output.lse[static_cast<size_t>(at)] = static_cast<float>(lse);
        }
      }
    }
    CHECK(exact.compared().num_lse_checked == 24);
    CHECK(exact.compared().num_lse_mismatched == 0);
    CHECK(exact.compared().max_lse_ratio < 0.1);

    const float blind = exact.output.lse[0];
    CHECK(std::isinf(blind));
    exact.output.lse[0] = -blind;
    Comparison comparison = exact.compared();
    CHECK(comparison.num_lse_mismatched == 1);
    REQUIRE(comparison.first_lse_mismatch.has_value());
    CHECK(comparison.first_lse_mismatch->row == 0);
    exact.output.lse[0] = blind;

    exact.output.lse[23] *= 1.4426950f;  // a log to base 2
    comparison = exact.compared();
    CHECK(comparison.num_lse_mismatched == 1);
    CHECK(comparison.first_lse_mismatch->head == 2);
    CHECK(comparison.first_lse_mismatch->row == 3);
    CHECK(comparison.first_lse_mismatch->sequence == 1);
    exact.output.lse[23] = std::numeric_limits<float>::quiet_NaN();
    CHECK(exact.compared().num_lse_mismatched == 1);
  }
}

TEST_CASE("lse of a row whose scores are no numbers: NaN, or +inf as candle has it") {
  TestProblem made = make_problem({.num_heads = 1, .lengths = {{1, 2}}}, 4);
  write_element(made.inputs.storages[0], Dtype::kF16, 0, std::nan(""));
  Exact exact(std::move(made));
  REQUIRE(std::isnan(exact.reference.lse[0]));
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  for (const float lse : {std::nanf(""), kInfinity}) {
    exact.output.lse = {lse};
    CHECK(exact.compared().num_lse_mismatched == 0);
  }
  for (const float lse : {1.0f, -kInfinity}) {
    exact.output.lse = {lse};
    CHECK(exact.compared().num_lse_mismatched == 1);
  }
}

TEST_CASE("constants are noticed") {
  Exact exact = small();
  CHECK_FALSE(exact.compared().is_constant);
  std::fill(exact.output.out.begin(), exact.output.out.end(), 0.25);
  CHECK(exact.compared().is_constant);
  CHECK(exact.compared().constant_value == 0.25);
}

TEST_CASE("a mismatch that another arithmetic explains says which") {
  const TestProblem test = make_problem({.head_dim = 64, .lengths = {{4, 80}}}, 21);
  const Output f16 = simulate(test, {.sums_in_f16 = true, .out_dtype = Dtype::kF32});
  const Comparison comparison = compare(test.problem, f16, test.reference());
  CHECK(comparison.num_mismatched > 0);
  REQUIRE(comparison.fits.has_value());
  CHECK(comparison.fits->accumulate == Arithmetic::Accumulate::kF16);

  TestProblem strict = make_problem({.head_dim = 64, .lengths = {{4, 80}}}, 21);
  strict.problem.arithmetic.p = Arithmetic::P::kF32;
  const Output rounded = simulate(strict, {.out_dtype = Dtype::kF32});
  const Comparison explained = compare(strict.problem, rounded, strict.reference());
  CHECK(explained.num_mismatched > 0);
  CHECK(explained.fits == Arithmetic{});

  const Output faulty = simulate(test, {.drops_last_key = true});
  CHECK_FALSE(compare(test.problem, faulty, test.reference()).fits.has_value());
  const Output zeros{.out = std::vector<double>(f16.out.size())};
  CHECK_FALSE(compare(test.problem, zeros, test.reference()).fits.has_value());
}

TEST_CASE("FlashAttention's rule: a good kernel is within it, a wrong one is not") {
  const TestProblem test = make_problem({.head_dim = 64, .lengths = {{8, 80}}}, 22);
  const Reference reference = test.reference();
  CHECK(reference.low_precision_error > 0);
  CHECK(*compare(test.problem, simulate(test, {}), reference).fa2_ratio < 1);
  CHECK(*compare(test.problem, simulate(test, {.drops_last_key = true}), reference).fa2_ratio > 10);

  const TestProblem f32 = make_problem({.dtype = Dtype::kF32}, 22);
  const Output output = simulate(f32, {.out_dtype = Dtype::kF32});
  CHECK_FALSE(compare(f32.problem, output, f32.reference()).fa2_ratio.has_value());
}

TEST_CASE("only the rows that were chosen are compared") {
  const TestProblem test = make_problem({.lengths = {{6, 7}}}, 23);
  const Reference some =
      reference_attention(test.problem, test.inputs, test.storages, {{0, 1}, {0, 4}});
  Output output = simulate(test, {});
  output.out[2 * 2 * 8] = kNaN;  // row 2
  Comparison comparison = compare(test.problem, output, some);
  CHECK(comparison.num_rows_checked == 2);
  CHECK(comparison.num_rows == 6);
  CHECK(comparison.num_elements == 2 * 2 * 8);
  CHECK(comparison.num_mismatched == 0);
  output.out[4 * 2 * 8] = kNaN;
  comparison = compare(test.problem, output, some);
  REQUIRE(comparison.worst.size() == 1);
  CHECK(comparison.worst[0].row == 4);
}
