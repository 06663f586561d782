#include <doctest/doctest.h>

#include <cstdint>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "src/load/load.h"
#include "tests/load/complaint_lines.h"

namespace flashcheck {
namespace {

std::vector<std::string> lines() {
  std::ifstream file(FLASHCHECK_SOURCE_DIR "/tests/data/candle.jsonl");
  std::vector<std::string> lines;
  for (std::string line; std::getline(file, line);) lines.push_back(line);
  return lines;
}

/// A small generator of its own, so that the same bytes come on every machine.
class Random {
 public:
  uint64_t below(uint64_t bound) {
    state_ = state_ * 6364136223846793005u + 1442695040888963407u;
    return (state_ >> 33) % bound;
  }

 private:
  uint64_t state_ = 1;
};

TEST_CASE("3,000 calls of the real wrappers are cases") {
  const LoadResult result = load_file(FLASHCHECK_SOURCE_DIR "/tests/data/candle.jsonl");
  CHECK(lines_of(result.complaints) == std::vector<std::string>{});
  REQUIRE(result.cases.size() == 3000);
  for (size_t i = 0; i < result.cases.size(); ++i) {
    const Case& c = result.cases[i];
    CHECK(c.source.line == static_cast<int64_t>(i) + 1);
    REQUIRE(c.function != nullptr);
    REQUIRE(c.expect.has_value());
    const int said = int{c.expect->error.has_value()} + int{c.expect->panic.has_value()} +
                     int{!c.expect->launch.empty()};
    CHECK(said == 1);
    for (const auto& tensor : c.tensors) {
      if (!tensor) continue;
      CHECK(tensor->strides.size() == tensor->shape.size());
      CHECK(tensor->num_elements().has_value());
      CHECK(tensor->span().has_value());
      CHECK(tensor->storage < static_cast<int64_t>(c.storages.size()));
    }
  }
}

TEST_CASE("a document that ends early is never a case") {
  const std::string line = lines()[2];
  for (size_t size = 0; size < line.size(); ++size) {
    const LoadResult result = load_text(line.substr(0, size), "t.json", false);
    CHECK(result.cases.empty());
    REQUIRE(result.complaints.size() == 1);
    CHECK(result.complaints[0].finding.rule->code == "FC-C003");
  }
}

TEST_CASE("a changed byte makes another case or a complaint, never both and never a crash") {
  const std::vector<std::string> all = lines();
  Random random;
  int cases = 0, complaints = 0;
  for (int i = 0; i < 20'000; ++i) {
    std::string line = all[random.below(all.size())];
    line[random.below(line.size())] = static_cast<char>(random.below(256));
    const LoadResult result = load_text(line, "t.json", false);
    CHECK(result.cases.empty() == !result.complaints.empty());
    (result.cases.empty() ? complaints : cases) += 1;
  }
  CHECK(cases > 300);
  CHECK(complaints > 1000);
}

}  // namespace
}  // namespace flashcheck
