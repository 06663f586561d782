#include <doctest/doctest.h>

#include <algorithm>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "src/contract/contract.h"
#include "src/contract/problem.h"
#include "src/hazards/hazards.h"
#include "src/inputs/inputs.h"
#include "tests/cases/shipped.h"

namespace flashcheck {
namespace {

struct NumericCase {
  const Case* c;
  LaunchParams launch;
  AttentionProblem problem;
};

const std::vector<NumericCase>& numeric_cases() {
  static const std::vector<NumericCase> cases = [] {
    std::vector<NumericCase> numeric;
    for (const Case& c : shipped_cases()) {
      if (!stem_of(c).starts_with("numeric-")) continue;
      const Outcome outcome = check_contract(c);
      const Inputs small = make_inputs(c, /*with_data=*/false);
      REQUIRE(outcome.launch.has_value());
      REQUIRE(find_hazards(c, *outcome.launch, small).is_memory_safe);
      numeric.push_back({&c, *outcome.launch, declared_problem(c, *outcome.launch, small)});
    }
    return numeric;
  }();
  return cases;
}

template <typename Predicate>
int count(Predicate holds) {
  return static_cast<int>(std::count_if(numeric_cases().begin(), numeric_cases().end(), holds));
}

bool any_sequence(const AttentionProblem& problem, bool (*holds)(const Sequence&)) {
  return std::any_of(problem.sequences.begin(), problem.sequences.end(), holds);
}

}  // namespace

TEST_CASE("numeric cases expect right numbers of a call without hazards") {
  CHECK(numeric_cases().size() >= 60);
  for (const NumericCase& numeric : numeric_cases()) {
    CAPTURE(numeric.c->id);
    CHECK(numeric.c->expect->verdict == Verdict::kOk);
    const Inputs small = make_inputs(*numeric.c, /*with_data=*/false);
    for (const Finding& finding : find_hazards(*numeric.c, numeric.launch, small).findings) {
      CHECK(finding.rule->severity == Severity::kInformation);
    }
  }
}

TEST_CASE(
    "the kernel is asked what the caller meant: no quirk of the wrapper changes the question") {
  for (const auto& [c, launch, problem] : numeric_cases()) {
    const std::string& id = c->id;  // Clang 14 captures no structured binding
    CAPTURE(id);
    if (!problem.is_paged) continue;
    CHECK(launch.seqlen_k >= std::max_element(problem.sequences.begin(), problem.sequences.end(),
                                              [](const Sequence& a, const Sequence& b) {
                                                return a.seqlen_k < b.seqlen_k;
                                              })
                                 ->seqlen_k);
  }
}

TEST_CASE("q, k and v begin and step in whole chunks of 16 bytes") {
  for (const NumericCase& numeric : numeric_cases()) {
    CAPTURE(numeric.c->id);
    for (const TensorSpec* tensor : {&numeric.c->q(), &numeric.c->k(), &numeric.c->v()}) {
      CHECK(tensor->offset % 8 == 0);
      for (size_t dim = 0; dim + 1 < tensor->strides.size(); ++dim) {
        CHECK(tensor->strides[dim] % 8 == 0);
      }
    }
  }
}

TEST_CASE("paged numeric cases tell one page from another") {
  int shuffled = 0, partial = 0, highest = 0;
  for (const auto& [c, launch, problem] : numeric_cases()) {
    if (!problem.is_paged) continue;
    const std::string& id = c->id;  // Clang 14 captures no structured binding
    CAPTURE(id);
    bool is_increasing = true;
    int64_t used = -1;
    for (size_t b = 0; b < problem.sequences.size(); ++b) {
      const int64_t keys = problem.sequences[b].seqlen_k;
      const int64_t pages = (keys + problem.page_block_size - 1) / problem.page_block_size;
      partial += keys % problem.page_block_size != 0;
      for (int64_t page = 0; page < pages; ++page) {
        const int64_t id = problem.block_table[b][static_cast<size_t>(page)];
        is_increasing &= id == used + 1;
        used = id;
        highest += id + 1 == c->k().shape[0];
      }
    }
    CHECK_FALSE(is_increasing);
    ++shuffled;
  }
  CHECK(shuffled >= 30);
  CHECK(partial >= 30);
  CHECK(highest >= 20);
}

TEST_CASE("numeric cases cover what a kernel can get wrong") {
  using N = const NumericCase&;
  CHECK(count([](N n) { return n.problem.dtype == Dtype::kF16; }) >= 20);
  CHECK(count([](N n) { return n.problem.dtype == Dtype::kBF16; }) >= 20);
  CHECK(count([](N n) { return n.problem.dtype == Dtype::kF32; }) >= 20);
  CHECK(count([](N n) { return n.problem.num_heads_k == 1; }) >= 3);
  CHECK(count([](N n) {
          const int64_t group = n.problem.num_heads / n.problem.num_heads_k;
          return group > 1 && n.problem.num_heads_k > 1 && group != n.problem.num_heads_k;
        }) >= 60);
  CHECK(count([](N n) { return n.launch.is_causal != 0; }) >= 30);
  CHECK(count([](N n) { return n.problem.window_size_left && n.problem.window_size_right; }) >= 15);
  // A scale of 1 could not tell the cap's place: before or after the scale.
  CHECK(count([](N n) { return n.problem.softcap && n.problem.softmax_scale != 1; }) >= 10);
  CHECK(count([](N n) { return !n.problem.alibi_slopes.empty(); }) >= 10);
  CHECK(count([](N n) { return !n.problem.mm_prefix_ranges.empty(); }) >= 6);
  CHECK(count([](N n) {
          return any_sequence(n.problem, [](const Sequence& s) { return s.seqlen_q == 0; });
        }) >= 2);
  CHECK(count([](N n) {
          return any_sequence(n.problem, [](const Sequence& s) { return s.seqlen_k == 0; });
        }) >= 2);
  CHECK(count([](N n) {
          return any_sequence(n.problem, [](const Sequence& s) {
            return s.seqlen_q > s.seqlen_k && s.seqlen_k > 0;
          });
        }) >= 5);
  CHECK(count([](N n) {
          return any_sequence(n.problem, [](const Sequence& s) {
            return s.seqlen_k > 128 && s.seqlen_k % 16 != 0;
          });
        }) >= 60);
  CHECK(count([](N n) { return n.launch.k_batch_stride != n.launch.v_batch_stride; }) >= 2);
  CHECK(count([](N n) { return n.launch.k_row_stride != n.launch.v_row_stride; }) >= 1);
  CHECK(count([](N n) { return n.launch.k_head_stride != n.launch.v_head_stride; }) >= 1);

  std::set<int64_t> head_dims;
  for (N n : numeric_cases()) head_dims.insert(n.problem.head_dim);
  CHECK(*head_dims.begin() == 8);
  CHECK(*head_dims.rbegin() == 512);
  CHECK(head_dims.size() >= 20);
}

TEST_CASE("windows of numeric cases hide a key that one more or less would show") {
  for (const auto& [c, launch, problem] : numeric_cases()) {
    if (stem_of(*c) != "numeric-windows" || !problem.window_size_left) continue;
    const int64_t window = *problem.window_size_left;
    const Sequence& sequence = problem.sequences.front();
    if (window >= sequence.seqlen_k - 1) continue;  // the ones that say so in their note
    const std::string& id = c->id;                  // Clang 14 captures no structured binding
    CAPTURE(id);
    CHECK(problem.is_visible(0, sequence.seqlen_q - 1, sequence.seqlen_k - 1 - window));
    CHECK_FALSE(problem.is_visible(0, sequence.seqlen_q - 1, sequence.seqlen_k - 2 - window));
  }
}

}  // namespace flashcheck
