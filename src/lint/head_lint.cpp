#include <fmt/format.h>

#include "src/lint/lint_rule.h"

namespace flashcheck {
namespace {

int64_t group_size(const LintCase& test) {
  return test.problem.num_heads / test.problem.num_heads_k;
}

std::string heads_words(const LintCase& test) {
  return fmt::format("{} over {}", test.problem.num_heads, test.problem.num_heads_k);
}

const LintRule kRules[] = {
    {.rule = {.code = "FC-L301",
              .name = "one-kv-head",
              .severity = Severity::kInformation,
              .message = "k and v have one head: {seen} heads",
              .why = "A kernel that reads head 0 of k and v for all, or uses a wrong head stride, "
                     "would pass.",
              .fix = "Take several kv heads.",
              .source = "BobMcDear/attorch#14"},
     .applies = always,
     .can_show = [](const LintCase& test) { return test.problem.num_heads_k > 1; },
     .seen = heads_words},
    {.rule = {.code = "FC-L302",
              .name = "group-of-one",
              .severity = Severity::kInformation,
              .message = "every query head has a kv head of its own: {seen} heads",
              .why = "A kernel that does not share kv heads among query heads would pass.",
              .fix = "Take more query heads than kv heads, such as 6 over 2.",
              .source = "FlashML-org/FreeToken#177"},
     .applies = always,
     .can_show = [](const LintCase& test) { return group_size(test) > 1; },
     .seen = heads_words},
    {.rule = {.code = "FC-L303",
              .name = "group-as-large-as-kv-heads",
              .severity = Severity::kInformation,
              .message = "a kv head serves as many query heads as there are kv heads: {seen} heads",
              .why =
                  "A kernel that divides the query head by num_heads_k, and not by the size of a "
                  "group, would pass.",
              .fix = "Take 6 over 2 heads, not 4 over 2.",
              .source = "onnx/onnx#7274"},
     .applies =
         [](const LintCase& test) { return group_size(test) > 1 && test.problem.num_heads_k > 1; },
     .can_show = [](const LintCase& test) { return group_size(test) != test.problem.num_heads_k; },
     .seen = heads_words},
    {.rule = {.code = "FC-L304",
              .name = "head-dim-not-padded",
              .severity = Severity::kInformation,
              .message = "every head_dim is a multiple of 32: {seen}",
              .why =
                  "A kernel that lets the padding of a row into its products, or takes the padded "
                  "head_dim for a stride or for the scale, would pass.",
              .fix = "Take a head_dim such as 80.",
              .source = "bytedance-iaas/sglang#485"},
     .applies = always,
     .can_show = [](const LintCase& test) { return test.problem.head_dim % 32 != 0; },
     .seen = [](const LintCase& test) { return fmt::format("{}", test.problem.head_dim); }},
};

}  // namespace

std::span<const LintRule> head_lint() { return kRules; }

}  // namespace flashcheck
