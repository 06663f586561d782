// Outputs of engines that are not ours, judged: right ones pass, wrong ones do not.

#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "src/check_case.h"
#include "src/load/load.h"

namespace flashcheck {
namespace {

const std::string kRoot = FLASHCHECK_SOURCE_DIR;

const std::vector<Case>& dumped_cases() {
  static const std::vector<Case> cases = [] {
    std::vector<Case> all;
    for (const std::string& file : expand_paths({kRoot + "/tests/data/dumps"}).files) {
      LoadResult loaded = load_file(file);
      for (const LoadComplaint& complaint : loaded.complaints) {
        FAIL(file << ":" << complaint.source.line << ": " << complaint.finding.message);
      }
      all.insert(all.end(), loaded.cases.begin(), loaded.cases.end());
    }
    return all;
  }();
  return cases;
}

CaseReport judged(std::string_view id) {
  for (const Case& c : dumped_cases()) {
    if (c.id == id) return check_case(c, {});
  }
  FAIL("no case " << id);
  return {};
}

std::string text_of(const std::string& path) {
  std::ifstream file(kRoot + "/" + path);
  REQUIRE_MESSAGE(file.is_open(), path);
  return {std::istreambuf_iterator<char>(file), {}};
}

}  // namespace

TEST_CASE("every dumped output is judged as its case expects") {
  std::set<std::string> engines;
  int num_right = 0, num_wrong = 0;
  for (const Case& c : dumped_cases()) {
    CAPTURE(c.id);
    engines.insert(c.id.substr(0, c.id.find('-')));
    const CaseReport report = check_case(c, {});
    for (const Unmet& unmet : report.unmet) {
      CAPTURE(unmet.what);
      CHECK(unmet.actual == unmet.expected);
    }
    CHECK(report.status == Status::kPass);
    CHECK(report.judged_dump);
    REQUIRE(report.comparison.has_value());
    CHECK(report.comparison->num_rows_checked > 0);
    // An engine that computes in 32 or 16 bits is never exact: 0 would mean that nobody looked.
    CHECK(report.comparison->max_ratio > 0);
    ++(report.verdict == Verdict::kOk ? num_right : num_wrong);
  }
  CHECK(engines == std::set<std::string>{"candle", "ggml", "jax", "onnxruntime", "torch"});
  CHECK(num_right >= 38);
  CHECK(num_wrong >= 31);
}

TEST_CASE("a dump that only fits another arithmetic is told so") {
  const auto fits = [](std::string_view id) { return judged(id).comparison->fits; };
  for (const char* stem : {"ggml-prefill-causal", "ggml-extend-causal", "ggml-decode", "ggml-full",
                           "ggml-window", "ggml-softcap", "ggml-alibi", "ggml-alibi-full"}) {
    CAPTURE(stem);
    const auto found = fits(std::string(stem) + "/declared-f32");
    REQUIRE(found.has_value());
    CHECK(found->accumulate == Arithmetic::Accumulate::kF16);
  }
  const auto rounded = fits("torch-bf16-p-rounded/declared-unrounded");
  REQUIRE(rounded.has_value());
  CHECK(*rounded == Arithmetic{});
  CHECK_FALSE(fits("torch-f16-window/one-too-wide").has_value());
}

TEST_CASE("the page on dumping shows the code that the dumps were made with") {
  const std::string page = text_of("docs/dumping.md");
  for (const std::string file : {"case_from_torch.py", "case_from_candle.rs"}) {
    const std::string code = text_of("tests/data/dumpers/" + file);
    CHECK_MESSAGE(page.find("\n" + code + "```\n") != std::string::npos, file);
  }
}

}  // namespace flashcheck
