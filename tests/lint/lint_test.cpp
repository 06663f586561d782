#include "src/lint/lint.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <functional>
#include <set>
#include <string>
#include <vector>

#include "src/lint/lint_rule.h"
#include "tests/contract/calls.h"

namespace flashcheck {
namespace {

using Change = std::function<void(Case&)>;

Case lengths(Case c, std::vector<int64_t> q, std::vector<int64_t> k) {
  std::vector<int64_t> cu_q{0}, cu_k{0};
  for (const int64_t length : q) cu_q.push_back(cu_q.back() + length);
  for (const int64_t length : k) cu_k.push_back(cu_k.back() + length);
  reshape(c, TensorName::kQ, {cu_q.back(), c.q().shape[1], c.q().shape[2]});
  reshape(c, TensorName::kSeqlensQ, {static_cast<int64_t>(cu_q.size())});
  reshape(c, TensorName::kSeqlensK, {static_cast<int64_t>(cu_k.size())});
  write_out(c, TensorName::kSeqlensQ, cu_q);
  write_out(c, TensorName::kSeqlensK, cu_k);
  c.args.max_seqlen_q = *std::max_element(q.begin(), q.end());
  c.args.max_seqlen_k = *std::max_element(k.begin(), k.end());
  if (!c.function->paged) {
    for (const TensorName name : {TensorName::kK, TensorName::kV}) {
      reshape(c, name, {cu_k.back(), c.k().shape[1], c.k().shape[2]});
    }
  }
  return c;
}

Case flat(std::vector<int64_t> q, std::vector<int64_t> k) {
  return lengths(varlen_call(Wrapper::kCandleFlashAttn, "flash_attn_varlen_windowed"), q, k);
}

/// Pages of 32 in a pool of `num_blocks`, causal or not.
Case paged(std::vector<int64_t> q, std::vector<int64_t> k, std::vector<int64_t> table,
           int64_t num_blocks) {
  const int64_t batch = static_cast<int64_t>(q.size());
  Case c = lengths(paged_call(), q, k);
  for (const TensorName name : {TensorName::kK, TensorName::kV}) {
    reshape(c, name, {num_blocks, 32, 2, 64});
  }
  reshape(c, TensorName::kBlockTable, {batch, static_cast<int64_t>(table.size()) / batch});
  write_out(c, TensorName::kBlockTable, table);
  return c;
}

Case heads(int64_t num_heads, int64_t num_heads_k, int64_t head_dim = 64) {
  Case c = fixed_call();
  reshape(c, TensorName::kQ, {2, 4, num_heads, head_dim});
  reshape(c, TensorName::kK, {2, 6, num_heads_k, head_dim});
  reshape(c, TensorName::kV, {2, 6, num_heads_k, head_dim});
  return c;
}

Case windows(std::vector<int64_t> q, std::vector<int64_t> k, std::optional<int64_t> left,
             std::optional<int64_t> right) {
  Case c = flat(q, k);
  c.args.window_size_left = left;
  c.args.window_size_right = right;
  return c;
}

Case filled(TensorName name, Fill fill) {
  Case c = fixed_call();
  tensor(c, name).values = std::make_shared<const Values>(fill);
  return c;
}

Case capped(float softcap) {
  return with(varlen_call(Wrapper::kCandleFlashAttn, "flash_attn_varlen_alibi_windowed_softcap"),
              [&](Case& c) {
                put(c, TensorName::kAlibiSlopes, Dtype::kF32, {8});
                c.args.softcap = softcap;
              });
}

Case slopes(Fill fill) {
  return with(fixed_alibi_call(), [&](Case& c) {
    tensor(c, TensorName::kAlibiSlopes).values = std::make_shared<const Values>(fill);
  });
}

Case ranges(std::vector<int64_t> values) {
  return with(paged_ranges_call(), [&](Case& c) {
    write_out(c, TensorName::kMmPrefixRanges, std::move(values));
    c.args.window_size_right = 0;
  });
}

/// For each rule a call that is blind, and one just like it that is not.
struct Example {
  std::string code;
  Case blind, seeing;
};

std::vector<Example> examples() {
  const auto view = [](TensorName name, std::vector<int64_t> strides, int64_t offset) {
    return with(fixed_call(), [&](Case& c) {
      tensor(c, name).offset = offset;
      restride(c, name, std::move(strides));
    });
  };
  const Case packed = fixed_call();
  return {
      {"FC-L101", paged({1, 1}, {40, 70}, {0, 1, 2, 2, 3, 4}, 8),
       paged({1, 1}, {40, 70}, {0, 1, 2, 2, 3, 6}, 8)},
      {"FC-L102", paged({1, 1}, {40, 70}, {1, 4, 0, 2, 3, 5}, 8),
       paged({1, 1}, {40, 70}, {4, 1, 0, 2, 3, 5}, 8)},
      {"FC-L103", paged({1, 1}, {40, 70}, {4, 1, 5, 4, 1, 5}, 8),
       paged({1, 1}, {40, 70}, {4, 1, 5, 4, 2, 5}, 8)},
      {"FC-L104", paged({1, 1}, {32, 64}, {4, 1, 3, 2}, 8),
       paged({1, 1}, {32, 63}, {4, 1, 3, 2}, 8)},
      {"FC-L105", paged({1, 1}, {32, 7}, {4, 1}, 8), paged({1, 1}, {33, 7}, {4, 0, 1, 0}, 8)},
      {"FC-L106", paged({1, 1}, {40, 70}, {3, 1, 0, 4, 2, 0}, 5),
       paged({1, 1}, {40, 70}, {3, 1, 0, 4, 2, 0}, 6)},
      {"FC-L107", paged({1}, {70}, {3, 1, 0}, 5), paged({1}, {70}, {4, 1, 0}, 5)},
      {"FC-L108", paged({1, 1}, {40, 70}, {3, 1, 0, 4, 2, 0}, 5),
       paged({1, 1}, {40, 70}, {3, 1, 0, 0, 4, 2, 0, 0}, 5)},
      {"FC-L109",
       with(paged({1}, {70}, {3, 1, 0}, 5),
            [](Case& c) {
              reshape(c, TensorName::kQ, {1, 32, 64});
              for (const TensorName name : {TensorName::kK, TensorName::kV}) {
                reshape(c, name, {5, 32, 32, 64});
              }
            }),
       paged({1}, {70}, {3, 1, 0}, 5)},
      {"FC-L201", flat({4}, {9}), flat({4, 1}, {9, 9})},
      {"FC-L202", flat({4, 1}, {9, 9}), flat({4, 1}, {9, 8})},
      {"FC-L203", flat({4, 4}, {9, 9}), flat({4, 1}, {9, 9})},
      {"FC-L204", windows({4, 9}, {4, 9}, std::nullopt, 0),
       windows({4, 8}, {4, 9}, std::nullopt, 0)},
      {"FC-L205", flat({4, 1}, {32, 64}), flat({4, 1}, {32, 65})},
      {"FC-L206", flat({4}, {128}), flat({4}, {129})},
      {"FC-L207", flat({128}, {9}), flat({129}, {9})},
      {"FC-L208", flat({2, 2}, {9, 9}), flat({2, 1}, {9, 9})},
      {"FC-L209", flat({2, 1}, {9, 8}), flat({2, 0}, {9, 8})},
      {"FC-L301", heads(6, 1), heads(6, 2)},
      {"FC-L302", heads(6, 6), heads(6, 2)},
      {"FC-L303", heads(4, 2), heads(6, 2)},
      {"FC-L304", heads(6, 2, 96), heads(6, 2, 80)},
      {"FC-L401", packed, view(TensorName::kK, {1024, 136, 64, 1}, 0)},
      {"FC-L402", packed, view(TensorName::kV, {1024, 136, 64, 1}, 0)},
      {"FC-L403", packed, view(TensorName::kQ, {4096, 1024, 64, 1}, 0)},
      {"FC-L404", packed, view(TensorName::kV, {768, 128, 64, 1}, 8)},
      {"FC-L405", paged({1}, {70}, {3, 1, 0}, 5),
       with(paged({1}, {70}, {3, 1, 0}, 5),
            [](Case& c) {
              restride(c, TensorName::kK, {8192, 128, 64, 1});
            })},
      {"FC-L501", windows({4}, {9}, 8, std::nullopt), windows({4}, {9}, 7, std::nullopt)},
      {"FC-L502", windows({4}, {9}, std::nullopt, 3), windows({4}, {9}, std::nullopt, 2)},
      {"FC-L503", ranges({0, 1, 2, 3}), ranges({0, 1, 1, 3})},
      {"FC-L504", windows({9}, {9}, std::nullopt, 0), windows({9}, {8}, std::nullopt, 0)},
      {"FC-L601", capped(9), capped(7)},
      {"FC-L602", with(packed, [](Case& c) { c.args.softmax_scale = 0.03f; }),
       with(packed, [](Case& c) { c.args.softmax_scale = 0.04f; })},
      {"FC-L603", packed, with(packed, [](Case& c) { c.args.softmax_scale = 0.1f; })},
      {"FC-L604", filled(TensorName::kV, {.generator = Fill::Generator::kConstant, .value = 2}),
       filled(TensorName::kV, {.generator = Fill::Generator::kRamp})},
      {"FC-L605", slopes({.generator = Fill::Generator::kConstant, .value = 0.5}),
       slopes({.generator = Fill::Generator::kRamp, .step = 0.125})},
  };
}

std::set<std::string> codes_of(const std::vector<Case>& cases) {
  std::vector<LintCase> suite;
  for (const Case& c : cases) {
    std::optional<LintCase> test = lint_case(c);
    REQUIRE(test.has_value());
    suite.push_back(*std::move(test));
  }
  std::set<std::string> codes;
  for (const Finding& finding : lint(suite)) codes.emplace(finding.rule->code);
  return codes;
}

}  // namespace

TEST_CASE("every rule finds a blind test, and is silent once a seeing one is beside it") {
  std::set<std::string> tried, all;
  for (const Rule* rule : lint_rules()) all.emplace(rule->code);
  for (const Example& example : examples()) {
    CAPTURE(example.code);
    CHECK(codes_of({example.blind}).contains(example.code));
    CHECK_FALSE(codes_of({example.seeing}).contains(example.code));
    CHECK_FALSE(codes_of({example.blind, example.seeing}).contains(example.code));
    tried.insert(example.code);
  }
  CHECK(tried == all);
}

TEST_CASE("rules keep to the tests that they are about") {
  for (const std::string& code : codes_of({fixed_call()})) {
    CHECK_MESSAGE((code[4] != '1' && code[4] != '5'), code);  // neither pages nor masks
  }
  CHECK_FALSE(codes_of({heads(6, 1)}).contains("FC-L303"));
  CHECK_FALSE(codes_of({flat({4}, {9})}).contains("FC-L202"));
}

TEST_CASE("slopes that are made up are not equal") {
  const std::optional<LintCase> test = lint_case(fixed_alibi_call());
  REQUIRE(test.has_value());
  CHECK(test->problem.alibi_slopes.size() == 8);
  CHECK_FALSE(codes_of({fixed_alibi_call()}).contains("FC-L605"));
}

TEST_CASE("a test without numbers is not linted") {
  CHECK_FALSE(lint_case(with(fixed_call(), [](Case& c) {
                reshape(c, TensorName::kK, {6, 2, 64});
              })).has_value());
  CHECK_FALSE(lint_case(paged({1}, {70}, {3, 1, 9}, 5)).has_value());
  CHECK_FALSE(lint_case(with(paged({1}, {70}, {3, 1, 0}, 5), [](Case& c) {
                tensor(c, TensorName::kBlockTable).values = std::make_shared<const Values>();
              })).has_value());
  CHECK_FALSE(lint_case(with(fixed_call(), [](Case& c) {
                reshape(c, TensorName::kQ, {2, 0, 8, 64});
              })).has_value());
}

TEST_CASE("what the tests have in common is told of three at most") {
  std::vector<LintCase> suite;
  std::vector<Case> cases;
  for (const int64_t keys : {32, 64, 96, 160, 160}) cases.push_back(flat({4}, {keys}));
  for (const Case& c : cases) suite.push_back(*lint_case(c));
  for (const Finding& finding : lint(suite)) {
    if (finding.rule->code != "FC-L205") continue;
    CHECK(finding.message ==
          "every number of keys is a multiple of 32: [32]; [64]; [96]; and 1 more");
  }
}

TEST_CASE("every rule's message has one placeholder, and it is information") {
  for (const Rule* rule : lint_rules()) {
    CAPTURE(rule->code);
    CHECK(rule->severity == Severity::kInformation);
    CHECK(rule->message.find("{seen}") != std::string_view::npos);
  }
}

}  // namespace flashcheck
