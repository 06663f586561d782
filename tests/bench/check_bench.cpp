// Calls a second through the static half of the pipeline, one core: the median of several passes
// over the 3,000 oracle calls, and each stage's share. Not a test: nothing is asserted of a time.
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <ctime>
#include <fstream>
#include <functional>
#include <sstream>
#include <string>
#include <vector>

#include "src/check_case.h"
#include "src/contract/contract.h"
#include "src/load/load.h"

using namespace flashcheck;

namespace {

constexpr int kPasses = 15;

/// The median processor time of a pass in seconds.
double median_seconds(const std::function<void()>& pass) {
  std::vector<double> times;
  for (int i = 0; i < kPasses; ++i) {
    const std::clock_t start = std::clock();  // of this process: other programs do not count
    pass();
    times.push_back(static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC);
  }
  std::nth_element(times.begin(), times.begin() + kPasses / 2, times.end());
  return times[kPasses / 2];
}

}  // namespace

int main() {
  std::stringstream text;
  text << std::ifstream(FLASHCHECK_SOURCE_DIR "/tests/data/candle.jsonl").rdbuf();
  const std::string lines = text.str();
  const LoadResult loaded = load_text(lines, "candle.jsonl", /*is_jsonl=*/true);
  const double count = static_cast<double>(loaded.cases.size());
  const CheckOptions options{.run_kernel = false};

  const double load = median_seconds([&] { load_text(lines, "candle.jsonl", /*is_jsonl=*/true); });
  const double contract = median_seconds([&] {
    for (const Case& c : loaded.cases) check_contract(c);
  });
  const double check = median_seconds([&] {
    for (const Case& c : loaded.cases) check_case(c, options);
  });
  const double whole = load + check;
  fmt::print("{} calls, median of {} passes, one core\n", loaded.cases.size(), kPasses);
  fmt::print("whole     {:>9.0f} calls a second\n", count / whole);
  fmt::print("load      {:>9.0f}  {:.0f} % of the time\n", count / load, 100 * load / whole);
  fmt::print("contract  {:>9.0f}  {:.0f} %\n", count / contract, 100 * contract / whole);
  fmt::print("hazards   {:>9.0f}  {:.0f} %, with the small inputs and the expectation\n",
             count / (check - contract), 100 * (check - contract) / whole);
  return loaded.complaints.empty() ? 0 : 1;
}
