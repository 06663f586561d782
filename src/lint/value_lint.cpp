#include <fmt/format.h>

#include <cmath>

#include "src/inputs/fill.h"
#include "src/lint/lint_rule.h"

namespace flashcheck {
namespace {

constexpr int64_t kSample = 4096;  // elements that speak for a tensor

/// What a tensor's values are like, from its first elements; nothing if they are in a file.
struct Likeness {
  double root_mean_square = 1;
  bool is_constant = false;
};

template <typename Element>
Likeness likeness_of(int64_t count, Element element) {
  double sum = 0;
  bool is_constant = true;
  for (int64_t n = 0; n < count; ++n) {
    const double value = element(n);
    sum += value * value;
    is_constant = is_constant && value == element(0);
  }
  return {std::sqrt(sum / static_cast<double>(std::max<int64_t>(count, 1))),
          is_constant && count > 1};
}

std::optional<Likeness> likeness_of(const TensorSpec& tensor) {
  const int64_t count = std::min(tensor.num_elements().value_or(kSample), kSample);
  if (const auto* fill = std::get_if<Fill>(tensor.values.get())) {
    return likeness_of(count, [&](int64_t n) { return fill_element(*fill, tensor.dtype, n); });
  }
  if (const auto* literal = std::get_if<LiteralValues>(tensor.values.get())) {
    const std::vector<double>& floats = literal->floats;
    return likeness_of(static_cast<int64_t>(floats.size()),
                       [&](int64_t n) { return floats[static_cast<size_t>(n)]; });
  }
  if (std::holds_alternative<FileValues>(*tensor.values)) return std::nullopt;
  return Likeness{};  // N(0,1), as make_inputs fills it
}

/// The largest |score| to expect: scores of independent values are nearly normal, and hardly one of
/// a test's is beyond four standard deviations. Nothing if values are in a file.
std::optional<double> largest_score(const LintCase& test) {
  const std::optional<Likeness> q = likeness_of(test.c->q()), k = likeness_of(test.c->k());
  if (!q || !k) return std::nullopt;
  return 4 * std::fabs(static_cast<double>(test.problem.softmax_scale)) *
         std::sqrt(static_cast<double>(test.problem.head_dim)) * q->root_mean_square *
         k->root_mean_square;
}

std::string score_words(const LintCase& test) {
  const std::optional<double> largest = largest_score(test);
  return largest ? fmt::format("about {:.2g}", *largest) : "unknown";
}

const LintRule kRules[] = {
    {.rule = {.code = "FC-L601",
              .name = "scores-too-small-for-softcap",
              .severity = Severity::kInformation,
              .message = "no score comes near the softcap: the largest |score| is {seen}",
              .why =
                  "A kernel that ignores the softcap would pass: tanh is nearly the identity far "
                  "below the cap.",
              .fix = "Scale q up, or lower the cap, until scores exceed half of it.",
              .source = "sgl-project/sglang#33915"},
     .applies = [](const LintCase& test) { return test.problem.softcap.has_value(); },
     .can_show =
         [](const LintCase& test) {
           const std::optional<double> largest = largest_score(test);
           return !largest || *largest >= 0.5 * static_cast<double>(*test.problem.softcap);
         },
     .seen =
         [](const LintCase& test) {
           return fmt::format("{}, the cap {}", score_words(test), *test.problem.softcap);
         }},
    {.rule = {.code = "FC-L602",
              .name = "scores-nearly-equal",
              .severity = Severity::kInformation,
              .message = "all weights are nearly equal: the largest |score| is {seen}",
              .why = "A kernel that averages v, with hardly any regard to q and k, may pass.",
              .fix = "Take values or a softmax_scale that make scores of 1 and more.",
              .source = kFollows},
     .applies = always,
     .can_show =
         [](const LintCase& test) {
           const std::optional<double> largest = largest_score(test);
           return !largest || *largest >= 1;
         },
     .seen = score_words},
    {.rule = {.code = "FC-L603",
              .name = "scale-is-the-usual-one",
              .severity = Severity::kInformation,
              .message = "softmax_scale is always 1/sqrt(head_dim): {seen}",
              .why = "A kernel that ignores softmax_scale and works out its own would pass.",
              .fix = "Take another softmax_scale in some test.",
              .source = "huggingface/kernels#101; BobMcDear/attorch#14"},
     .applies = always,
     .can_show =
         [](const LintCase& test) {
           const double usual = 1 / std::sqrt(static_cast<double>(test.problem.head_dim));
           return !(std::fabs(static_cast<double>(test.problem.softmax_scale) - usual) <
                    1e-3 * usual);
         },
     .seen =
         [](const LintCase& test) {
           return fmt::format("{:.4g} for head_dim {}", test.problem.softmax_scale,
                              test.problem.head_dim);
         }},
    {.rule = {.code = "FC-L604",
              .name = "constant-values",
              .severity = Severity::kInformation,
              .message = "all elements of k, or of v, are equal: {seen}",
              .why = "Any weights give the same output where v is constant, and all weights are "
                     "equal where k is: a kernel that reads the wrong rows would pass.",
              .fix = "Leave the values out, or take a fill that differs from row to row.",
              .source = kFollows},
     .applies = always,
     .can_show =
         [](const LintCase& test) {
           const auto varies = [](const TensorSpec& tensor) {
             return !likeness_of(tensor).value_or(Likeness{}).is_constant;
           };
           return varies(test.c->k()) && varies(test.c->v());
         },
     .seen = [](const LintCase& test) { return fmt::format("{}", test.c->id); }},
    {.rule = {.code = "FC-L605",
              .name = "equal-alibi-slopes",
              .severity = Severity::kInformation,
              .message = "all heads have the same ALiBi slope: {seen}",
              .why = "A kernel that reads slope 0 for every head would pass.",
              .fix = "Give the heads different slopes, or leave the values of alibi_slopes out.",
              .source = kFollows},
     .applies = [](const LintCase& test) { return test.problem.alibi_slopes.size() > 1; },
     .can_show =
         [](const LintCase& test) {
           const auto& slopes = test.problem.alibi_slopes;
           return std::adjacent_find(slopes.begin(), slopes.end(), std::not_equal_to<>()) !=
                  slopes.end();
         },
     .seen = [](const LintCase& test) { return fmt::format("{}", test.problem.alibi_slopes[0]); }},
};

}  // namespace

std::span<const LintRule> value_lint() { return kRules; }

}  // namespace flashcheck
