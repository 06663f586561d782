#include <doctest/doctest.h>

#include <regex>

#include "src/contract/contract.h"
#include "tests/contract/calls.h"
#include "tests/contract/random_calls.h"

namespace flashcheck {
namespace {

constexpr auto kQ = TensorName::kQ;
constexpr auto kK = TensorName::kK;
constexpr auto kV = TensorName::kV;
constexpr auto kSeqlensK = TensorName::kSeqlensK;
constexpr auto kBlockTable = TensorName::kBlockTable;

void reshape_kv(Case& c, const std::vector<int64_t>& shape) {
  reshape(c, kK, shape);
  reshape(c, kV, shape);
}

/// What to try for the first finding.
std::string fix_of(const Case& c) {
  const Outcome outcome = check_contract(c);
  REQUIRE_FALSE(outcome.findings.empty());
  const Finding& first = outcome.findings.front();
  return first.fix.empty() ? std::string(first.rule->fix) : first.fix;
}

std::vector<int64_t> numbers_in(const std::string& text) {
  static const std::regex number("[0-9]+");
  std::vector<int64_t> numbers;
  for (std::sregex_iterator i(text.begin(), text.end(), number), end; i != end; ++i) {
    numbers.push_back(std::stoll(i->str()));
  }
  return numbers;
}

std::string first_code(const Case& c) {
  const Outcome outcome = check_contract(c);
  return outcome.findings.empty() ? "" : std::string(outcome.findings.front().rule->code);
}

}  // namespace

TEST_CASE("doing what a fix says makes its error go away") {
  std::mt19937_64 rng(3);
  static const std::regex reshape_to(R"(reshape k to (\[[0-9, ]+\]))");
  int num_pages = 0, num_head_counts = 0, num_head_dims = 0;
  for (int i = 0; i < 3000; ++i) {
    Case c = random_accepted_call(rng);
    if (c.function->wrapper == Wrapper::kNone) continue;
    CAPTURE(c.function->name);
    const std::vector<int64_t> kv = c.k().shape;
    if (c.function->paged && i % 3 == 0) {
      reshape_kv(c, {kv[0] * kv[1], kv[2], kv[3]});
      REQUIRE(first_code(c) == "FC-E203");
      std::smatch match;
      const std::string fix = fix_of(c);
      REQUIRE(std::regex_search(fix, match, reshape_to));
      reshape_kv(c, numbers_in(match[1]));
      CHECK(first_code(c) == "");
      ++num_pages;
    } else if (i % 3 == 1) {
      std::vector<int64_t> shape = kv;
      shape[shape.size() - 2] = 5;
      reshape_kv(c, shape);
      const int64_t num_heads = c.q().shape[c.q().shape.size() - 2];
      if (first_code(c) != "FC-E415" || 5 % num_heads == 0) continue;
      // "k and v have 5 heads, q 8: use 4 or 8 k/v heads, …"
      const std::string fix = fix_of(c);
      const std::vector<int64_t> numbers = numbers_in(fix.substr(0, fix.find(" k/v heads")));
      REQUIRE(numbers.size() >= 3);
      for (size_t n = 2; n < numbers.size(); ++n) {
        shape[shape.size() - 2] = numbers[n];
        reshape_kv(c, shape);
        CHECK(first_code(c) == "");
      }
      ++num_head_counts;
    } else if (i % 3 == 2) {
      const int64_t head_dim = 1 + static_cast<int64_t>(rng() % 512);
      const auto set_head_dim = [&](int64_t d) {
        for (const auto name : {kQ, kK, kV}) {
          std::vector<int64_t> shape = c.at(name).shape;
          shape.back() = d;
          reshape(c, name, shape);
        }
      };
      set_head_dim(head_dim);
      const std::string code = first_code(c);
      if (code.empty()) continue;
      REQUIRE((code == "FC-E413" || code == "FC-E414"));
      // "Pad the last dim of q, k and v from 60 to 64, …"
      set_head_dim(numbers_in(fix_of(c)).at(1));
      CHECK(first_code(c) == "");
      ++num_head_dims;
    }
  }
  CHECK(num_pages > 30);
  CHECK(num_head_counts > 100);
  CHECK(num_head_dims > 500);
}

TEST_CASE("after that: later faults are named too, and no fault twice") {
  const auto codes = [](const Case& c) {
    std::string all;
    for (const Finding& finding : check_contract(c).findings) {
      all += std::string(finding.rule->code) + " ";
    }
    return all;
  };
  SUBCASE("three faults of one call") {
    Case c = paged_call();
    tensor(c, kSeqlensK).dtype = Dtype::kI64;
    c.args.page_block_size = 64;
    tensor(c, kBlockTable).dtype = Dtype::kI64;
    CHECK(codes(c) == "FC-E102 FC-E501 FC-E104 ");
  }
  SUBCASE("what cannot be evaluated is left out") {
    Case c = paged_call();
    reshape_kv(c, {160, 2, 64});
    c.args.page_block_size = 16;
    CHECK(codes(c) == "FC-E203 ");
  }
  SUBCASE("k and v wrong in the same way") {
    Case c = fixed_call();
    reshape_kv(c, {2, 6, 2, 128});
    CHECK(codes(c) == "FC-E401 ");
  }
  SUBCASE("q in f32, k and v in f16") {
    Case c = fixed_call();
    tensor(c, kQ).dtype = Dtype::kF32;
    CHECK(codes(c) == "FC-E101 ");
  }
  SUBCASE("a head size that is too large and odd") {
    Case c = fixed_call();
    reshape(c, kQ, {2, 4, 8, 516});
    reshape_kv(c, {2, 6, 2, 516});
    CHECK(codes(c) == "FC-E411 ");
  }
  SUBCASE("what the first fix repairs") {
    Case c = paged_call();
    reshape_kv(c, {5, 2, 32, 64});
    CHECK(codes(c) == "FC-E501 ");
    reshape_kv(c, {5, 3, 32, 64});
    CHECK(codes(c) == "FC-E501 FC-E415 ");
  }
  SUBCASE("what it leaves is told of the call after it") {
    Case c = paged_call();
    reshape_kv(c, {5, 2, 16, 64});
    c.args.page_block_size = 16;
    REQUIRE(codes(c) == "FC-E501 FC-E502 ");
    CHECK(check_contract(c).findings[1].fix.starts_with(
        "Use pages of 32: allocate k and v as [3, 32, 2, 64]"));
  }
  SUBCASE("a page size that will be replaced") {
    Case c = paged_call();
    reshape_kv(c, {5, 16, 2, 64});
    CHECK(codes(c) == "FC-E501 ");
    c.args.page_block_size = 48;
    CHECK(codes(c) == "FC-E501 FC-E502 ");
  }
}

}  // namespace flashcheck
