#include "reference/reference.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>
#include <thread>

#include "tests/reference/problems.h"
#include "tests/reference/scalar_attention.h"

using namespace flashcheck;
using namespace flashcheck::testing;

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

bool near(double a, double b, double scale) { return a == b || std::fabs(a - b) <= 1e-12 * scale; }

void check_against_scalar(const TestProblem& test) {
  const Reference reference = test.reference();
  const ScalarAttention scalar = scalar_attention(test);
  REQUIRE(reference.out.size() == scalar.out.size());
  REQUIRE(reference.lse.size() == scalar.lse.size());
  CHECK(reference.visible == scalar.visible);
  bool equal = true;
  for (size_t n = 0; n < scalar.out.size(); ++n) {
    equal = equal && near(reference.out[n], scalar.out[n], scalar.magnitude[n]) &&
            near(reference.magnitude[n], scalar.magnitude[n], scalar.magnitude[n]);
  }
  for (size_t n = 0; n < scalar.lse.size(); ++n) {
    equal = equal && near(reference.lse[n], scalar.lse[n], 1 + scalar.max_logit[n]) &&
            near(reference.max_logit[n], scalar.max_logit[n], 1 + scalar.max_logit[n]) &&
            near(reference.max_dot_magnitude[n], scalar.max_dot[n], scalar.max_dot[n]);
  }
  CHECK(equal);
}

/// One head of dim 1, f32: q, k and v are what the test writes.
TestProblem tiny(const std::vector<double>& q, const std::vector<double>& k,
                 const std::vector<double>& v) {
  Wanted wanted{.dtype = Dtype::kF32, .num_heads = 1, .num_heads_k = 1, .head_dim = 1};
  wanted.lengths = {{static_cast<int64_t>(q.size()), static_cast<int64_t>(k.size())}};
  TestProblem test = make_problem(wanted, 0);
  for (size_t n = 0; n < q.size(); ++n) {
    write_element(test.inputs.storages[0], Dtype::kF32, static_cast<int64_t>(n), q[n]);
  }
  for (size_t n = 0; n < k.size(); ++n) {
    write_element(test.inputs.storages[1], Dtype::kF32, static_cast<int64_t>(n), k[n]);
    write_element(test.inputs.storages[2], Dtype::kF32, static_cast<int64_t>(n), v[n]);
  }
  return test;
}

}  // namespace

TEST_CASE("random problems of every kind agree with the definition, key by key") {
  for (uint64_t seed = 0; seed < 150; ++seed) {
    CAPTURE(seed);
    check_against_scalar(random_problem(seed));
  }
}

TEST_CASE("a hand-computed softmax") {
  // Weights 1/4 and 3/4: the logits differ by ln 3.
  const float ln3 = std::log(3.0f);
  const TestProblem test = tiny({1}, {0, static_cast<double>(ln3)}, {8, -4});
  const Reference reference = test.reference();
  CHECK(reference.out[0] == doctest::Approx(-1).epsilon(1e-7));
  CHECK(reference.magnitude[0] == doctest::Approx(5).epsilon(1e-7));
  CHECK(reference.squares[0] == doctest::Approx(4 + 9).epsilon(1e-7));
  CHECK(reference.lse[0] == doctest::Approx(std::log(4)).epsilon(1e-7));
  CHECK(reference.largest_weight[0] == doctest::Approx(0.75).epsilon(1e-7));
  CHECK(reference.max_logit[0] == static_cast<double>(ln3));
  CHECK(reference.max_dot_magnitude[0] == static_cast<double>(ln3));
  CHECK(reference.visible[0] == 2);
  CHECK(reference.max_rises[0] == 1);  // ascending; descending the first is the largest
}

TEST_CASE("the cap comes after the scale and before the bias") {
  TestProblem test = tiny({2}, {3, 5}, {1, 0});
  test.problem.softmax_scale = 0.5;
  test.problem.softcap = 4.0f;
  test.problem.alibi_slopes = {0.25f};
  const double x0 = 4 * std::tanh(3.0 / 4) - 0.25, x1 = 4 * std::tanh(5.0 / 4);
  CHECK(test.reference().out[0] == doctest::Approx(1 / (1 + std::exp(x1 - x0))).epsilon(1e-12));
}

TEST_CASE("the two forms of the bias differ by a constant a row: same output, another lse") {
  Wanted wanted{.num_heads = 2, .lengths = {{4, 9}}};
  TestProblem test = make_problem(wanted, 5);
  test.problem.window_size_right = 0;
  test.problem.alibi_slopes = {0.5f, 0.125f};
  const Reference distance = test.reference();
  test.problem.alibi_is_causal_form = true;
  const Reference position = test.reference();
  for (size_t n = 0; n < distance.out.size(); ++n) {
    CHECK(position.out[n] == doctest::Approx(distance.out[n]).epsilon(1e-12));
  }
  for (int64_t i = 0; i < 4; ++i) {
    const auto line = static_cast<size_t>(2 * i);
    CHECK(position.lse[line] - distance.lse[line] ==
          doctest::Approx(0.5 * static_cast<double>(i + 5)).epsilon(1e-12));
  }
}

TEST_CASE("a row that sees no key is 0, with lse +inf") {
  Wanted wanted{.lengths = {{5, 2}}};
  TestProblem test = make_problem(wanted, 1);
  test.problem.window_size_right = 0;
  const Reference reference = test.reference();
  for (size_t line = 0; line < 6; ++line) {  // rows 0 to 2 stand before the first key
    CHECK(reference.lse[line] == kInfinity);
    CHECK(reference.visible[line] == 0);
    for (size_t c = 0; c < 8; ++c) CHECK(reference.out[line * 8 + c] == 0);
  }
  CHECK(std::isfinite(reference.lse[6]));
}

TEST_CASE("no key at all") {
  const Reference reference = make_problem({.lengths = {{2, 0}}}, 1).reference();
  CHECK(reference.lse == std::vector<double>(4, kInfinity));
  CHECK(reference.out == std::vector<double>(32, 0.0));
}

TEST_CASE("a NaN in a key that a row does not see does not reach it") {
  TestProblem test = tiny({1, 1, 1}, {1, 1, 1}, {1, 2, 3});
  test.problem.window_size_right = 0;
  const double nan = std::numeric_limits<double>::quiet_NaN();
  write_element(test.inputs.storages[2], Dtype::kF32, 1, nan);
  Reference reference = test.reference();
  CHECK(reference.out[0] == 1);
  CHECK(std::isnan(reference.out[1]));
  CHECK(std::isnan(reference.out[2]));

  write_element(test.inputs.storages[2], Dtype::kF32, 1, kInfinity);
  reference = test.reference();
  CHECK(reference.out[0] == 1);
  CHECK(reference.out[1] == kInfinity);

  write_element(test.inputs.storages[2], Dtype::kF32, 1, 2);
  write_element(test.inputs.storages[1], Dtype::kF32, 1, nan);
  reference = test.reference();
  CHECK(reference.out[0] == 1);
  CHECK(std::isnan(reference.out[1]));
  CHECK(std::isnan(reference.lse[1]));
}

TEST_CASE("where the pages are changes nothing") {
  for (const bool interleaves : {false, true}) {
    Wanted wanted{.layout = Layout::kPaged, .lengths = {{3, 17}, {1, 8}, {2, 30}}};
    wanted.interleaves_kv = interleaves;
    TestProblem test = make_problem(wanted, 9);
    const Reference before = test.reference();
    auto& table = test.problem.block_table;
    for (const int64_t storage : std::set{test.storages.k, test.storages.v}) {
      const int64_t page_bytes = test.problem.k.batch_stride * 2;
      std::byte* const pool = test.inputs.storages[static_cast<size_t>(storage)].begin();
      std::swap_ranges(pool + table[0][1] * page_bytes, pool + (table[0][1] + 1) * page_bytes,
                       pool + table[2][4] * page_bytes);
    }
    std::swap(table[0][1], table[2][4]);
    CHECK(test.reference().out == before.out);
  }
}

TEST_CASE("shared kv heads are the same as copies of them") {
  const TestProblem grouped =
      make_problem({.num_heads = 6, .num_heads_k = 2, .lengths = {{4, 11}}}, 3);
  TestProblem expanded = make_problem({.num_heads = 6, .num_heads_k = 6, .lengths = {{4, 11}}}, 4);
  for (int64_t i = 0; i < 4 * 6 * 8; ++i) {
    const double q = read_element(grouped.inputs.storages[0], Dtype::kF16, i);
    write_element(expanded.inputs.storages[0], Dtype::kF16, i, q);
  }
  for (const size_t storage : {size_t{1}, size_t{2}}) {
    for (int64_t j = 0; j < 11; ++j) {
      for (int64_t n = 0; n < 6 * 8; ++n) {
        const int64_t from = (j * 2 + n / 8 / 3) * 8 + n % 8;
        const double value = read_element(grouped.inputs.storages[storage], Dtype::kF16, from);
        write_element(expanded.inputs.storages[storage], Dtype::kF16, j * 48 + n, value);
      }
    }
  }
  const Reference a = grouped.reference(), b = expanded.reference();
  for (size_t n = 0; n < a.out.size(); ++n) {
    CHECK(a.out[n] == doctest::Approx(b.out[n]).epsilon(1e-12));
  }
}

TEST_CASE("V scaled by a power of two scales the output exactly") {
  TestProblem test = make_problem({.dtype = Dtype::kF32, .lengths = {{4, 300}}}, 8);
  const Reference before = test.reference();
  for (int64_t n = 0; n < 300 * 8; ++n) {
    const double v = read_element(test.inputs.storages[2], Dtype::kF32, n);
    write_element(test.inputs.storages[2], Dtype::kF32, n, v * 0x1p-20);
  }
  const Reference after = test.reference();
  for (size_t n = 0; n < before.out.size(); ++n) CHECK(after.out[n] == before.out[n] * 0x1p-20);
}

TEST_CASE("more keys and rows than a block holds") {
  Wanted wanted{.num_heads = 4, .num_heads_k = 2, .lengths = {{70, 600}}};
  TestProblem test = make_problem(wanted, 2);
  test.problem.window_size_left = 300;
  test.problem.window_size_right = 0;
  check_against_scalar(test);
}

TEST_CASE("several threads at once get the bytes that one gets") {
  const TestProblem test = make_problem({.head_dim = 64, .lengths = {{80, 400}}}, 6);
  const Reference alone = test.reference();
  std::vector<Reference> results(4);
  std::vector<std::thread> threads;
  for (Reference& result : results) {
    threads.emplace_back([&] { result = test.reference(); });
  }
  for (std::thread& thread : threads) thread.join();
  for (const Reference& result : results) {
    CHECK(result.out == alone.out);
    CHECK(result.lse == alone.lse);
  }
}
