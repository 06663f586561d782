#include <fmt/format.h>

#include "src/lint/lint_rule.h"

namespace flashcheck {
namespace {

std::string window_words(const LintCase& test) {
  const auto side = [](const std::optional<int64_t>& window) {
    return window ? fmt::format("{}", *window) : std::string("None");
  };
  int64_t longest = 0;
  for (const Sequence& s : test.problem.sequences) longest = std::max(longest, s.seqlen_k);
  return fmt::format("window ({}, {}) over {} keys", side(test.problem.window_size_left),
                     side(test.problem.window_size_right), longest);
}

bool is_masked(const LintCase& test) {
  return test.problem.window_size_left || test.problem.window_size_right;
}

/// Some row that has keys under the mask would see more of them without its left side.
bool left_hides(const LintCase& test) {
  const int64_t left = *test.problem.window_size_left;
  return any_sequence(test, [&](const Sequence& s) {
    return s.seqlen_q > 0 && s.seqlen_k > 0 && s.seqlen_k - 1 > left;
  });
}

bool right_hides(const LintCase& test) {
  const int64_t right = *test.problem.window_size_right;
  return any_sequence(test,
                      [&](const Sequence& s) { return s.seqlen_k > 1 && s.seqlen_q - 1 > right; });
}

/// Some range shows a row a key that its window hides.
bool ranges_widen(const LintCase& test) {
  const AttentionProblem& problem = test.problem;
  AttentionProblem without = problem;
  without.mm_prefix_ranges.clear();
  for (int64_t b = 0; b < problem.batch_size(); ++b) {
    const Sequence& s = problem.sequences[static_cast<size_t>(b)];
    for (const auto& [begin, end] : problem.mm_prefix_ranges[static_cast<size_t>(b)]) {
      const int64_t shift = s.seqlen_k - s.seqlen_q;
      const int64_t first = std::max(begin, shift), last = std::min(end, s.seqlen_k) - 1;
      // The first row of a range is furthest from its last key, and the other way round.
      for (const auto& [p, j] : {std::pair{first, last}, {last, std::max<int64_t>(begin, 0)}}) {
        if (first > last) break;
        if (problem.is_visible(b, p - shift, j) && !without.is_visible(b, p - shift, j))
          return true;
      }
    }
  }
  return false;
}

/// Some row sees no key although its sequence has some.
bool has_row_without_keys(const LintCase& test) {
  return any_sequence(test, [&](const Sequence& s) {
    const std::optional<int64_t>& right = test.problem.window_size_right;
    return right && s.seqlen_k > 0 && s.seqlen_k - s.seqlen_q + *right < 0;
  });
}

const LintRule kRules[] = {
    {.rule = {.code = "FC-L501",
              .name = "left-window-never-reached",
              .severity = Severity::kInformation,
              .message = "window_size_left hides no key of any row: {seen}",
              .why = "A kernel that ignores window_size_left, or has it one off, would pass.",
              .fix = "Take at least window_size_left + 2 keys.",
              .source = "zml/zml#763; huggingface/transformers#39408"},
     .applies = [](const LintCase& test) { return test.problem.window_size_left.has_value(); },
     .can_show = left_hides,
     .seen = window_words},
    {.rule = {.code = "FC-L502",
              .name = "right-window-never-reached",
              .severity = Severity::kInformation,
              .message = "window_size_right, or causal, hides no key of any row: {seen}",
              .why = "A kernel that ignores the causal mask or window_size_right would pass.",
              .fix = "Take at least window_size_right + 2 query rows.",
              .source = "huggingface/text-embeddings-inference#882"},
     .applies = [](const LintCase& test) { return test.problem.window_size_right.has_value(); },
     .can_show = right_hides,
     .seen = window_words},
    {.rule = {.code = "FC-L503",
              .name = "prefix-ranges-widen-nothing",
              .severity = Severity::kInformation,
              .message = "mm_prefix_ranges show no key that the window hides: {seen}",
              .why = "A kernel that ignores mm_prefix_ranges would pass.",
              .fix = "Let a range begin and end among the query rows of a causal or windowed call.",
              .source = kFollows},
     .applies = [](const LintCase& test) { return !test.problem.mm_prefix_ranges.empty(); },
     .can_show = ranges_widen,
     .seen = window_words},
    {.rule = {.code = "FC-L504",
              .name = "no-row-without-keys",
              .severity = Severity::kInformation,
              .message = "under a mask every row sees some key: {seen}",
              .why = "A kernel that writes NaN, or a mean, where a row sees nothing would pass.",
              .fix = "Take more query rows than keys under a causal mask.",
              .source = "huggingface/sentence-transformers#2886"},
     .applies = is_masked,
     .can_show = has_row_without_keys,
     .seen = window_words},
};

}  // namespace

std::span<const LintRule> mask_lint() { return kRules; }

}  // namespace flashcheck
