#include <fmt/format.h>
#include <fmt/ranges.h>

#include "src/lint/lint_rule.h"

namespace flashcheck {
namespace {

std::string batch_words(const LintCase& test) {
  return fmt::format("batch {}", test.problem.batch_size());
}

std::string keys_words(const LintCase& test) {
  std::vector<int64_t> lengths;
  for (const Sequence& s : test.problem.sequences) lengths.push_back(s.seqlen_k);
  return fmt::format("{}", lengths);
}

std::string queries_words(const LintCase& test) {
  std::vector<int64_t> lengths;
  for (const Sequence& s : test.problem.sequences) lengths.push_back(s.seqlen_q);
  return fmt::format("{}", lengths);
}

bool is_batch_of_lengths(const LintCase& test) {
  return test.problem.is_varlen && test.problem.batch_size() > 1;
}

bool is_masked(const LintCase& test) {
  return test.problem.window_size_left || test.problem.window_size_right;
}

const LintRule kRules[] = {
    {.rule = {.code = "FC-L201",
              .name = "batch-of-one",
              .severity = Severity::kInformation,
              .message = "there is one sequence only: {seen}",
              .why =
                  "A kernel that reads another sequence's lengths, rows or pages, or that uses a "
                  "wrong batch stride, would pass.",
              .fix = "Put several sequences into a call.",
              .source = "NVIDIA/TensorRT-LLM#17964"},
     .applies = always,
     .can_show = [](const LintCase& test) { return test.problem.batch_size() > 1; },
     .seen = batch_words},
    {.rule = {.code = "FC-L202",
              .name = "equal-key-lengths",
              .severity = Severity::kInformation,
              .message = "all sequences of a call have the same number of keys: {seen}",
              .why =
                  "A kernel that takes one sequence's length, or the maximum, for all would pass.",
              .fix = "Let the lengths differ within a call.",
              .source = "InternLM/lmdeploy#414; huggingface/text-embeddings-inference#882"},
     .applies = is_batch_of_lengths,
     .can_show =
         [](const LintCase& test) {
           return any_sequence(test, [&](const Sequence& s) {
             return s.seqlen_k != test.problem.sequences[0].seqlen_k;
           });
         },
     .seen = keys_words},
    {.rule = {.code = "FC-L203",
              .name = "equal-query-lengths",
              .severity = Severity::kInformation,
              .message = "all sequences of a call have the same number of query rows: {seen}",
              .why = "A kernel that computes where a sequence's rows begin, instead of reading it "
                     "from seqlens_q, would pass.",
              .fix = "Mix prompts and decode steps in a call.",
              .source = kFollows},
     .applies = is_batch_of_lengths,
     .can_show =
         [](const LintCase& test) {
           return any_sequence(test, [&](const Sequence& s) {
             return s.seqlen_q != test.problem.sequences[0].seqlen_q;
           });
         },
     .seen = queries_words},
    {.rule = {.code = "FC-L204",
              .name = "queries-as-long-as-keys",
              .severity = Severity::kInformation,
              .message = "under a mask every sequence has as many query rows as keys: {seen}",
              .why = "A kernel that aligns the mask to the top left instead of the bottom right "
                     "would pass.",
              .fix = "Take fewer query rows than keys, as a decode step does.",
              .source = "pytorch/executorch#22426"},
     .applies = is_masked,
     .can_show =
         [](const LintCase& test) {
           return any_sequence(test, [](const Sequence& s) {
             return s.seqlen_q > 0 && s.seqlen_k > 0 && s.seqlen_q != s.seqlen_k;
           });
         },
     .seen = keys_words},
    {.rule = {.code = "FC-L205",
              .name = "whole-key-tiles",
              .severity = Severity::kInformation,
              .message = "every number of keys is a multiple of 32: {seen}",
              .why = "A kernel that does not mask the rest of its last key tile would pass: tiles "
                     "have 32, 64, 128 or more keys.",
              .fix = "Take a number of keys that is no multiple of 32, such as 150.",
              .source = "Dao-AILab/flash-attention#1745"},
     .applies = always,
     .can_show =
         [](const LintCase& test) {
           return any_sequence(
               test, [](const Sequence& s) { return s.seqlen_q > 0 && s.seqlen_k % 32 != 0; });
         },
     .seen = keys_words},
    {.rule = {.code = "FC-L206",
              .name = "one-key-tile",
              .severity = Severity::kInformation,
              .message = "no sequence has more keys than one tile: {seen}",
              .why = "A kernel that does not rescale its running sum when a later tile holds a "
                     "larger score would pass.",
              .fix = "Take more keys than a tile has: over 128 for any of candle's kernels of "
                     "version 2, over 176 for version 3.",
              .source = kFollows},
     .applies = always,
     .can_show =
         [](const LintCase& test) {
           return any_sequence(test, [&](const Sequence& s) {
             return s.seqlen_q > 0 && s.seqlen_k > test.tile.key_rows;
           });
         },
     .seen = keys_words},
    {.rule = {.code = "FC-L207",
              .name = "one-query-tile",
              .severity = Severity::kInformation,
              .message = "no sequence has more query rows than one tile: {seen}",
              .why = "A kernel that places its second query tile wrongly, in q, out or the mask, "
                     "would pass.",
              .fix = "Take more query rows than a tile has: over 128, or over 192 for version 3 "
                     "with head_dim 64.",
              .source = kFollows},
     .applies = always,
     .can_show =
         [](const LintCase& test) {
           return any_sequence(test, [&](const Sequence& s) {
             return s.seqlen_k > 0 && s.seqlen_q > test.tile.max_query_rows;
           });
         },
     .seen = queries_words},
    {.rule = {.code = "FC-L208",
              .name = "no-decode-step",
              .severity = Severity::kInformation,
              .message = "no sequence has a single query row: {seen}",
              .why = "A kernel whose path for decoding is wrong would pass.",
              .fix = "Add a sequence with one query row and many keys.",
              .source = "EricLBuehler/mistral.rs#552"},
     .applies = always,
     .can_show =
         [](const LintCase& test) {
           return any_sequence(test,
                               [](const Sequence& s) { return s.seqlen_q == 1 && s.seqlen_k > 1; });
         },
     .seen = queries_words},
    {.rule = {.code = "FC-L209",
              .name = "no-empty-sequence",
              .severity = Severity::kInformation,
              .message = "no sequence is without query rows or without keys: {seen} keys",
              .why = "A kernel that divides by a length, or leaves the rows of a sequence without "
                     "keys unwritten, would pass.",
              .fix = "Add a sequence without query rows and one without keys.",
              .source = "Dao-AILab/flash-attention#1537"},
     .applies = [](const LintCase& test) { return test.problem.is_varlen; },
     .can_show =
         [](const LintCase& test) {
           return any_sequence(
               test, [](const Sequence& s) { return s.seqlen_q == 0 || s.seqlen_k == 0; });
         },
     .seen = keys_words},
};

}  // namespace

std::span<const LintRule> length_lint() { return kRules; }

}  // namespace flashcheck
