// candle publishes what its kernels gave on its own GPUs, rounded to four decimals. The reference
// and the CPU kernel must give the same, apart from that rounding and the rounding of an f16
// output.
#include <doctest/doctest.h>

#include <cmath>
#include <cstdint>
#include <fstream>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>
#include <vector>

#include "kernels/backend.h"
#include "reference/reference.h"
#include "src/contract/contract.h"
#include "src/contract/problem.h"
#include "src/inputs/inputs.h"
#include "src/run/run_kernel.h"
#include "tests/cases/shipped.h"

namespace flashcheck {
namespace {

const std::map<std::string, std::string> kCaseOfPublished{
    {"v2 flash_attn_acausal", "regression-candle-v2-acausal"},
    {"v2 flash_attn_varlen", "regression-candle-v2-varlen"},
    {"v3 flash_attn_acausal", "regression-candle-v3-acausal"},
    {"v3 flash_attn_acausal_gqa", "regression-candle-v3-acausal-gqa"},
    {"v3 flash_attn_varlen", "regression-candle-v3-varlen"},
};

nlohmann::json published() {
  std::ifstream file(FLASHCHECK_SOURCE_DIR "/tests/data/candle-published.json");
  return nlohmann::json::parse(file).at("items");
}

const Case& shipped_case(const std::string& id) {
  for (const Case& c : shipped_cases()) {
    if (c.id == id) return c;
  }
  throw std::logic_error("no shipped case " + id);
}

/// Four decimals, and half the distance between neighbours of f16: what a published number and the
/// exact one may differ by.
double published_tolerance(double value) {
  const double half_ulp = std::ldexp(1.0, std::ilogb(value) - 11);
  return 1e-4 + half_ulp;
}

/// Element (head, token, c) of a q, k or v of rank 3 or 4, whose batch is 1.
double element(const TensorSpec& tensor, const Inputs& inputs, int64_t head, int64_t token,
               int64_t c) {
  const size_t rank = tensor.shape.size();
  const int64_t index = tensor.offset + token * tensor.strides[rank - 3] +
                        head * tensor.strides[rank - 2] + c * tensor.strides[rank - 1];
  return read_element(inputs.storages[static_cast<size_t>(tensor.storage)], tensor.dtype, index);
}

}  // namespace

TEST_CASE("candle's published outputs: the inputs are candle's own") {
  for (const nlohmann::json& item : published()) {
    CAPTURE(item.at("name").get<std::string>());
    const Case& c = shipped_case(kCaseOfPublished.at(item.at("name")));
    const Inputs inputs = make_inputs(c, /*with_data=*/true);
    const std::vector<int64_t> sizes = item.at("heads_tokens_dim");
    const auto check = [&](const TensorSpec& tensor, int64_t heads, double divisor) {
      const double factor = round_to(Dtype::kF16, 1 / divisor);
      for (int64_t n = 0; n < heads * sizes[1] * sizes[2]; ++n) {
        const double number = round_to(Dtype::kF16, static_cast<double>(n));
        const double expected = round_to(Dtype::kF16, number * factor);
        CHECK(element(tensor, inputs, n / sizes[2] / sizes[1], n / sizes[2] % sizes[1],
                      n % sizes[2]) == expected);
      }
    };
    check(c.q(), sizes[0], item.at("q_divisor"));
    check(c.k(), item.at("kv_heads"), item.at("k_divisor"));
    check(c.v(), item.at("kv_heads"), item.at("v_divisor"));
    CHECK(static_cast<double>(c.args.softmax_scale) == item.at("softmax_scale").get<double>());
  }
}

TEST_CASE("candle's published outputs: reference and CPU kernel give them") {
  const nlohmann::json items = published();
  CHECK(items.size() == kCaseOfPublished.size());
  for (const nlohmann::json& item : items) {
    CAPTURE(item.at("name").get<std::string>());
    const Case& c = shipped_case(kCaseOfPublished.at(item.at("name")));
    const LaunchParams launch = check_contract(c).launch.value();
    const Inputs inputs = make_inputs(c, /*with_data=*/true);
    const AttentionProblem problem = declared_problem(c, launch, inputs);
    const Reference reference = reference_attention(
        problem, inputs, {.q = c.q().storage, .k = c.k().storage, .v = c.v().storage},
        choose_rows(problem, std::numeric_limits<int64_t>::max(), /*seed=*/0));
    const Output actual =
        run_kernel(c, attention_params(c, launch, inputs), inputs, {}, /*num_threads=*/1);

    const std::vector<int64_t> sizes = item.at("heads_tokens_dim");
    const nlohmann::json& table = item.at("published_out_heads_tokens_dim");
    REQUIRE(reference.out.size() == actual.out.size());
    for (int64_t head = 0; head < sizes[0]; ++head) {
      for (int64_t token = 0; token < sizes[1]; ++token) {
        for (int64_t column = 0; column < sizes[2]; ++column) {
          const double value = table.at(static_cast<size_t>(head))
                                   .at(static_cast<size_t>(token))
                                   .at(static_cast<size_t>(column));
          const auto index = static_cast<size_t>((token * sizes[0] + head) * sizes[2] + column);
          CAPTURE(head);
          CAPTURE(token);
          CAPTURE(column);
          CHECK(std::abs(reference.out[index] - value) <= published_tolerance(value));
          CHECK(std::abs(actual.out[index] - value) <= published_tolerance(value));
        }
      }
    }
  }
}

}  // namespace flashcheck
