#include <doctest/doctest.h>

#include <algorithm>
#include <fstream>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "src/check_case.h"
#include "src/contract/contract.h"
#include "src/hazards/axis_order.h"
#include "src/hazards/hazards.h"
#include "tests/cases/shipped.h"

namespace flashcheck {
namespace {

using Axes = std::vector<std::string>;

const Case& shipped(std::string_view id) {
  for (const Case& c : shipped_cases()) {
    if (c.id == id) return c;
  }
  throw std::logic_error("no shipped case " + std::string(id));
}

const Finding* find(const std::vector<Finding>& findings, std::string_view code) {
  for (const Finding& finding : findings) {
    if (finding.rule->code == code) return &finding;
  }
  return nullptr;
}

std::vector<Finding> hazards_of(const Case& c) {
  return check_case(c, {.run_kernel = false}).hazards;
}

/// The tensor as the proposed view has it.
void reorder(TensorSpec& tensor, const Axes& taken) {
  const auto permutation = permutation_to(taken, in_words_of(taken, tensor.axes));
  REQUIRE(permutation);
  tensor.shape = reordered(tensor.shape, *permutation);
  tensor.strides = reordered(tensor.strides, *permutation);
  tensor.axes = taken;
}

}  // namespace

TEST_CASE("a permutation names the declared dim of each axis that is taken") {
  const Axes taken{"page", "token", "head", "dim"};
  CHECK(permutation_to(taken, {"page", "head", "token", "dim"}) == std::vector<size_t>{0, 2, 1, 3});
  CHECK(permutation_to(taken, {"dim", "page", "token", "head"}) == std::vector<size_t>{1, 2, 3, 0});
  CHECK_FALSE(permutation_to(taken, {"batch", "head", "token", "dim"}));
  CHECK_FALSE(permutation_to(taken, {"token", "head", "dim"}));
  CHECK(moved_dims({0, 2, 1, 3}) == std::vector<size_t>{1, 2});
  CHECK(moved_dims({0, 1}).empty());
  CHECK(reordering_call(TensorName::kK, {0, 2, 1, 3}) == "k.transpose(1, 2)?");
  CHECK(reordering_call(TensorName::kQ, {1, 2, 3, 0}) == "q.permute((1, 2, 3, 0))?");
  CHECK(reordered({5, 4, 16, 64}, {0, 2, 1, 3}) == std::vector<int64_t>{5, 16, 4, 64});
}

TEST_CASE("a sequence is the rows beside a batch, the batch beside tokens, and a row of a table") {
  const Axes fixed{"batch", "token", "head", "dim"};
  CHECK(in_words_of(fixed, {"batch", "sequence", "head", "dim"}) == fixed);
  CHECK(in_words_of(fixed, {"sequence", "token", "head", "dim"}) == fixed);
  const Axes table{"sequence", "entry"};
  CHECK(in_words_of(table, {"batch", "page"}) == table);
  CHECK(in_words_of(table, {"sequence", "entry"}) == table);
  CHECK(in_words_of({"token", "head", "dim"}, {"sequence", "head", "dim"}) ==
        Axes{"token", "head", "dim"});
}

TEST_CASE("swapped axes are told once for all tensors, with the view that needs no copy") {
  const std::vector<Finding> findings =
      hazards_of(shipped("regression-field-rank/fc-001-flash-attention-1391"));
  REQUIRE(findings.size() == 1);
  CHECK(findings[0].message ==
        "axes 1 and 2 of q, k and v are swapped: declared (batch, head, token, dim), and "
        "flash_attn takes (batch, token, head, dim)");
  REQUIRE(findings[0].details.size() == 3);
  CHECK(findings[0].details[1] ==
        "k.transpose(1, 2)? is a view of shape [1, 16, 4, 64], strides [4096, 64, 1024, 1], "
        "without a copy");
}

TEST_CASE("the proposed view has no contradiction left and is accepted") {
  int count = 0;
  for (const Case& original : shipped_cases()) {
    const std::vector<Finding> told = find_contradicted_axes(original);
    const Finding* finding = find(told, "FC-H801");
    if (!finding || find(told, "FC-H802")) continue;
    Case c = original;
    bool has_copy = false;
    for (int i = 0; i < kNumTensors; ++i) {
      const TensorName name = static_cast<TensorName>(i);
      if (!c.find(name) || c.at(name).axes.empty()) continue;
      TensorSpec& tensor = *c.tensors[static_cast<size_t>(i)];
      reorder(tensor, axes_taken(*c.function, name));
      has_copy |= tensor.strides.back() != 1;
    }
    CAPTURE(c.id);
    CHECK(find_contradicted_axes(c).empty());
    if (has_copy || c.function->paged) continue;  // pages change their size as well
    ++count;
    if (finding->where == "/tensors/q/axes" && finding->details.size() == 3) {
      CHECK(check_contract(c).launch);
    }
  }
  CHECK(count >= 4);
}

TEST_CASE("declared axes speak beside a refusal, and no other hazard does") {
  const CaseReport report =
      check_case(shipped("regression-field-page-size/fc-084-vllm-47056"), {.run_kernel = false});
  CHECK(report.verdict == Verdict::kError);
  REQUIRE(report.hazards.size() == 1);
  CHECK(report.hazards[0].rule->code == "FC-H801");
  CHECK(report.hazards[0].fix ==
        "pass k.transpose(1, 2)?, v.transpose(1, 2)?; strides are honoured");
}

TEST_CASE("a dumped lse of another shape is told and never compared") {
  Case c = shipped("hazard-output-shape-differs/lse-transposed");
  c.expect.reset();
  const CaseReport report = check_case(c, {});
  CHECK(find(report.hazards, "FC-H805"));
  CHECK(find(report.findings, "FC-X104"));
  CHECK_FALSE(report.ran);
}

TEST_CASE("where no number tells heads from tokens, that is what is said") {
  const std::vector<Finding> findings =
      hazards_of(shipped("hazard-axes-cannot-be-told-paged/first-told"));
  const Finding* finding = find(findings, "FC-H804");
  REQUIRE(finding);
  CHECK(finding->message ==
        "k and v are [4, 32, 32, 64], heads and tokens both 32: nothing can tell (page, token, "
        "head, dim) from (page, head, token, dim); say which with `axes`");
}

TEST_CASE("a repeat of rows and flattened position axes are named where the numbers are theirs") {
  const auto detail_of = [](std::string_view id, std::string_view code) {
    const std::vector<Finding> findings = hazards_of(shipped(id));
    const Finding* finding = find(findings, code);
    REQUIRE(finding);
    std::vector<std::string> own = finding->details;
    std::erase_if(own, [](const std::string& line) { return line.starts_with("likewise "); });
    return own.empty() ? std::string() : own.back();
  };
  CHECK(detail_of("regression-field-rank-varlen/fc-006-prime-rl-2681", "FC-H206")
            .starts_with("8 = 2 x 4, and q has 2 heads for each of k"));
  CHECK(detail_of("regression-field-cu-seqlens/fc-029-transformers-44911", "FC-H203")
            .starts_with("seqlens_q ends at 12 = 3 x 4"));
  CHECK(
      detail_of("regression-field-cu-seqlens/fc-109-flash-attention-638", "FC-H205").find(" x ") ==
      std::string::npos);
}

TEST_CASE("a manager's table is translated into the kernel's pages where it fits the pool") {
  const auto details_of = [](std::string_view id) {
    const std::vector<Finding> findings = hazards_of(shipped(id));
    const Finding* finding = find(findings, "FC-H303");
    REQUIRE(finding);
    return finding->details;
  };
  CHECK(details_of("regression-field-page-size/fc-081-vllm-27547").back() ==
        "then its row in pages of 32 is [2, 3, 6, 7]");
  CHECK(details_of("regression-field-page-size/fc-082-vllm-gaudi-1323").back() ==
        "then its row in pages of 32 is [6, 7]");
  // Page 3 of 64 rows would be pages 6 and 7 of 32, and the pool has five.
  CHECK(details_of("hazard-block-table-row-too-short-paged/first-bad").back().find("then") ==
        std::string::npos);
}

TEST_CASE("docs/field-cases.md names a shipped case for every report, and every shipped one") {
  std::stringstream page;
  page << std::ifstream(FLASHCHECK_SOURCE_DIR "/docs/field-cases.md").rdbuf();
  std::set<std::string> named;
  for (std::string line; std::getline(page, line);) {
    for (size_t at = line.find("`fc-"); at != std::string::npos; at = line.find("`fc-", at + 1)) {
      named.insert(line.substr(at + 1, line.find('`', at + 1) - at - 1));
    }
  }
  std::set<std::string> shipped_ids;
  for (const Case& c : shipped_cases()) {
    if (!stem_of(c).starts_with("regression-field-") || is_control(c)) continue;
    CAPTURE(c.id);
    CHECK_FALSE(c.refs.empty());
    shipped_ids.insert(c.id.substr(c.id.find('/') + 1));
    CHECK(check_case(c, {.run_kernel = false}).status == Status::kPass);
  }
  CHECK(shipped_ids.size() > 120);
  CHECK(named == shipped_ids);
}

}  // namespace flashcheck
