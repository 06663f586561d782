#include <fmt/format.h>
#include <fmt/ranges.h>

#include "src/lint/lint_rule.h"

namespace flashcheck {
namespace {

std::string cache_words(const LintCase& test) {
  const Rows& k = test.problem.k;
  return fmt::format("rows of k {} apart", k.row_stride);
}

/// Whether two views step alike wherever they step at all.
bool steps_alike(const TensorSpec& a, const TensorSpec& b) {
  for (size_t dim = 0; dim < a.shape.size(); ++dim) {
    if (a.shape[dim] > 1 && a.strides[dim] != b.strides[dim]) return false;
  }
  return true;
}

const LintRule kRules[] = {
    {.rule = {.code = "FC-L401",
              .name = "cache-is-contiguous",
              .severity = Severity::kInformation,
              .message = "k and v are contiguous: {seen}",
              .why = "A kernel that works k's and v's strides out from their shapes would pass.",
              .fix = "Take a view: k and v interleaved, or rows with a gap behind them.",
              .source = "flagos-ai/FlagGems#5896; vllm-project/vllm-xpu-kernels#429"},
     .applies = always,
     .can_show =
         [](const LintCase& test) {
           return !test.c->k().is_contiguous() || !test.c->v().is_contiguous();
         },
     .seen = cache_words},
    {.rule = {.code = "FC-L402",
              .name = "k-and-v-step-alike",
              .severity = Severity::kInformation,
              .message = "k and v have the same strides: {seen}",
              .why = "A kernel that uses k's strides for v would pass.",
              .fix = "Give v other strides than k.",
              .source = "flagos-ai/FlagGems#5896"},
     .applies = always,
     .can_show = [](const LintCase& test) { return !steps_alike(test.c->k(), test.c->v()); },
     .seen = cache_words},
    {.rule = {.code = "FC-L403",
              .name = "queries-are-contiguous",
              .severity = Severity::kInformation,
              .message = "q is contiguous: {seen}",
              .why = "A kernel that takes q for packed would pass, though q is often a slice of a "
                     "fused QKV buffer.",
              .fix = "Take q out of a wider buffer.",
              .source = "sgl-project/sglang#31667"},
     .applies = always,
     .can_show = [](const LintCase& test) { return !test.c->q().is_contiguous(); },
     .seen = [](const LintCase& test) { return fmt::format("shape {}", test.c->q().shape); }},
    {.rule = {.code = "FC-L404",
              .name = "views-begin-at-zero",
              .severity = Severity::kInformation,
              .message = "q, k and v begin where their storages do: {seen}",
              .why =
                  "A kernel that takes the start of an allocation for the start of a tensor would "
                  "pass.",
              .fix = "Give q, k or v an offset.",
              .source = kFollows},
     .applies = always,
     .can_show =
         [](const LintCase& test) {
           return test.c->q().offset + test.c->k().offset + test.c->v().offset > 0;
         },
     .seen = [](const LintCase&) { return std::string("offset 0"); }},
    {.rule = {.code = "FC-L405",
              .name = "pages-are-packed",
              .severity = Severity::kInformation,
              .message = "the pages of k and v lie end to end: {seen}",
              .why =
                  "A kernel that steps from page to page by page_block_size rows, and not by the "
                  "page's stride, would pass.",
              .fix = "Interleave the pages of k and v in one storage.",
              .source = "vllm-project/vllm#47056"},
     .applies = [](const LintCase& test) { return is_paged(test) && test.c->k().shape[0] > 1; },
     .can_show =
         [](const LintCase& test) {
           const Rows& k = test.problem.k;
           return k.batch_stride != k.row_stride * test.problem.page_block_size;
         },
     .seen =
         [](const LintCase& test) {
           return fmt::format("pages {} apart", test.problem.k.batch_stride);
         }},
};

}  // namespace

std::span<const LintRule> layout_lint() { return kRules; }

}  // namespace flashcheck
