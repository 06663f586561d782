#include <fmt/format.h>
#include <fmt/ranges.h>

#include <set>

#include "src/lint/lint_rule.h"

namespace flashcheck {
namespace {

/// The pages that a sequence's keys are in, in order.
std::vector<int64_t> pages_of(const LintCase& test, size_t sequence) {
  const AttentionProblem& problem = test.problem;
  const int64_t keys = problem.sequences[sequence].seqlen_k;
  const int64_t page = problem.page_block_size;
  const auto& row = problem.block_table[sequence];
  const int64_t count =
      std::min(keys / page + (keys % page != 0), static_cast<int64_t>(row.size()));
  return {row.begin(), row.begin() + count};
}

std::vector<std::vector<int64_t>> used_table(const LintCase& test) {
  std::vector<std::vector<int64_t>> used;
  for (size_t b = 0; b < test.problem.sequences.size(); ++b) used.push_back(pages_of(test, b));
  return used;
}

std::set<int64_t> used_pages(const LintCase& test) {
  std::set<int64_t> used;
  for (const auto& row : used_table(test)) used.insert(row.begin(), row.end());
  return used;
}

int64_t longest_row(const LintCase& test) {
  size_t longest = 0;
  for (const auto& row : used_table(test)) longest = std::max(longest, row.size());
  return static_cast<int64_t>(longest);
}

int64_t columns(const LintCase& test) { return test.c->at(TensorName::kBlockTable).shape[1]; }
int64_t num_blocks(const LintCase& test) { return test.c->k().shape[0]; }

std::string table_words(const LintCase& test) { return fmt::format("{}", used_table(test)); }
std::string length_words(const LintCase& test) {
  std::vector<int64_t> lengths;
  for (const Sequence& s : test.problem.sequences) lengths.push_back(s.seqlen_k);
  return fmt::format("{} keys in pages of {}", fmt::join(lengths, ", "),
                     test.problem.page_block_size);
}

/// Some entry is none of the numbers that one could count to without a table.
bool is_no_identity(const LintCase& test) {
  int64_t count = 0;
  const auto used = used_table(test);
  for (size_t b = 0; b < used.size(); ++b) {
    for (size_t entry = 0; entry < used[b].size(); ++entry, ++count) {
      const int64_t page = used[b][entry];
      const int64_t place = static_cast<int64_t>(b) * columns(test) + static_cast<int64_t>(entry);
      if (page != count && page != static_cast<int64_t>(entry) && page != place) return true;
    }
  }
  return false;
}

bool steps_down(const LintCase& test) {
  for (const auto& row : used_table(test)) {
    if (std::adjacent_find(row.begin(), row.end(), std::greater<>()) != row.end()) return true;
  }
  return false;
}

bool has_several_rows(const LintCase& test) {
  return is_paged(test) && test.problem.batch_size() > 1;
}

/// Some later row differs from the first one in an entry that is used.
bool rows_differ(const LintCase& test) {
  const auto used = used_table(test);
  const auto& first = test.problem.block_table[0];
  return std::any_of(used.begin() + 1, used.end(), [&](const std::vector<int64_t>& row) {
    return !std::equal(row.begin(), row.end(), first.begin());
  });
}

const LintRule kRules[] = {
    {.rule = {.code = "FC-L101",
              .name = "table-is-identity",
              .severity = Severity::kInformation,
              .message = "every block table counts its pages up from 0: {seen}",
              .why = "A kernel that ignores the block table, and one that reads the cache as flat "
                     "rows, would pass.",
              .fix = "Shuffle the pages: [[3, 1], [4, 0]].",
              .source = "tanishqkumar/ssd#22"},
     .applies = is_paged,
     .can_show = is_no_identity,
     .seen = table_words},
    {.rule = {.code = "FC-L102",
              .name = "table-is-monotone",
              .severity = Severity::kInformation,
              .message = "no row of a block table ever steps back: {seen}",
              .why = "A kernel that takes the first page and walks on from there, or that reads "
                     "across a page's end into the next one of the pool, may pass.",
              .fix = "Let a row go down as well as up: [3, 1, 2].",
              .source = "ai-bond/flash-attention-v100#41"},
     .applies = is_paged,
     .can_show = steps_down,
     .seen = table_words},
    {.rule = {.code = "FC-L103",
              .name = "same-table-rows",
              .severity = Severity::kInformation,
              .message = "all sequences name the same pages: {seen}",
              .why = "A kernel that reads row 0 of the block table for every sequence would pass.",
              .fix = "Give each sequence pages of its own.",
              .source = kFollows},
     .applies = has_several_rows,
     .can_show = rows_differ,
     .seen = table_words},
    {.rule = {.code = "FC-L104",
              .name = "last-page-whole",
              .severity = Severity::kInformation,
              .message = "every sequence ends with a page: {seen}",
              .why = "A kernel that lets the unused rows of the last page into the softmax would "
                     "pass, and one that drops a page that is not full.",
              .fix = "Take a length that is no multiple of the page.",
              .source = "hw-native-sys/simpler#72"},
     .applies = is_paged,
     .can_show =
         [](const LintCase& test) {
           return any_sequence(test, [&](const Sequence& s) {
             return s.seqlen_q > 0 && s.seqlen_k % test.problem.page_block_size != 0;
           });
         },
     .seen = length_words},
    {.rule = {.code = "FC-L105",
              .name = "one-page-a-sequence",
              .severity = Severity::kInformation,
              .message = "no sequence has more than a page: {seen}",
              .why = "A kernel that reads only the first entry of a table's row would pass.",
              .fix = "Take a length of more than a page.",
              .source = kFollows},
     .applies = is_paged,
     .can_show = [](const LintCase& test) { return longest_row(test) > 1; },
     .seen = length_words},
    {.rule = {.code = "FC-L106",
              .name = "no-unused-page",
              .severity = Severity::kInformation,
              .message = "every page of the pool belongs to some sequence: {seen}",
              .why = "A wrong page id always leads to another sequence's rows: a kernel that reads "
                     "pages nobody owns is not told from one that mixes sequences up.",
              .fix = "Leave pages of the pool unused, between the used ones.",
              .source = kFollows},
     .applies = is_paged,
     .can_show =
         [](const LintCase& test) {
           return static_cast<int64_t>(used_pages(test).size()) < num_blocks(test);
         },
     .seen = [](const LintCase& test) { return fmt::format("{} pages", num_blocks(test)); }},
    {.rule = {.code = "FC-L107",
              .name = "last-page-of-pool-unused",
              .severity = Severity::kInformation,
              .message = "no table names the last page of its pool: {seen}",
              .why = "A kernel that loses, wraps or clamps the largest page ids would pass.",
              .fix = "Let a table name page num_blocks - 1.",
              .source = "Dao-AILab/flash-attention#1314"},
     .applies = is_paged,
     .can_show =
         [](const LintCase& test) { return used_pages(test).contains(num_blocks(test) - 1); },
     .seen =
         [](const LintCase& test) {
           const std::set<int64_t> used = used_pages(test);
           return fmt::format("page {} of 0..{}", used.empty() ? -1 : *used.rbegin(),
                              num_blocks(test) - 1);
         }},
    {.rule = {.code = "FC-L108",
              .name = "table-has-no-spare-column",
              .severity = Severity::kInformation,
              .message = "every block table is as wide as its longest sequence: {seen}",
              .why =
                  "A kernel that steps from row to row by the pages of the longest sequence, and "
                  "not by the table's stride, would pass.",
              .fix = "Give the block table a column more than any sequence needs.",
              .source = kFollows},
     .applies = has_several_rows,
     .can_show = [](const LintCase& test) { return columns(test) > longest_row(test); },
     .seen = [](const LintCase& test) { return fmt::format("{} columns", columns(test)); }},
    {.rule = {.code = "FC-L109",
              .name = "as-many-heads-as-rows-a-page",
              .severity = Severity::kInformation,
              .message = "a page has as many rows as heads: {seen}",
              .why =
                  "A call that passes k and v as (page, head, row, dim) has the shape of a right "
                  "one.",
              .fix = "Let num_heads_k and page_block_size differ.",
              .source = "vllm-project/vllm#47056"},
     .applies = is_paged,
     .can_show =
         [](const LintCase& test) {
           return test.problem.num_heads_k != test.problem.page_block_size;
         },
     .seen = [](const LintCase& test) { return fmt::format("{}", test.problem.num_heads_k); }},
};

}  // namespace

std::span<const LintRule> paging_lint() { return kRules; }

}  // namespace flashcheck
