// What the reports say of a run that is not on the CPU: a call that is right there, one that its
// kernel does not take, and one on which the device fails.

#include <doctest/doctest.h>

#include <memory>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "src/check_case.h"
#include "src/load/load.h"
#include "src/report/reporter.h"
#include "tests/golden.h"

using namespace flashcheck;

namespace {

constexpr std::string_view kCall =
    R"({"schema": 1, "wrapper": "candle-flash-attn", "function": "flash_attn",
        "tensors": {"q": {"dtype": "f16", "shape": [1, 2, 1, 8]},
                    "k": {"dtype": "f16", "shape": [1, 2, 1, 8]},
                    "v": {"dtype": "f16", "shape": [1, 2, 1, 8]}},
        "args": {"softmax_scale": 0.5, "causal": false},
        "expect": {"verdict": "ok"}})";

using Run = void (*)(const AttentionParams&, const Execution&);
using Refusal = std::string (*)(const AttentionParams&);

Backend other_backend(Refusal refusal, Run run) {
  return {.name = "cuda",
          .description = "stands in for one",
          .devices = [] { return std::vector<std::string>(); },
          .unavailable = [](int) { return std::string(); },
          .refusal = refusal,
          .run = run};
}

/// The whole report of the three, in one form.
std::string report_of(const std::unique_ptr<Reporter>& reporter, std::ostringstream& out) {
  const Refusal takes_all = [](const AttentionParams&) { return std::string(); };
  const Run on_the_cpu = [](const AttentionParams& params, const Execution& execution) {
    backends().front().run(params, execution);
  };
  const std::vector<Backend> others = {
      other_backend(takes_all, on_the_cpu),
      other_backend([](const AttentionParams&) { return std::string("not this head dim"); },
                    on_the_cpu),
      other_backend(takes_all, [](const AttentionParams&, const Execution&) {
        throw std::runtime_error("cudaDeviceSynchronize failed: unspecified launch failure");
      })};

  const LoadResult loaded = load_text(kCall, "call.json", /*is_jsonl=*/false);
  REQUIRE(loaded.cases.size() == 1);
  Summary summary;
  reporter->on_begin({.version = "0", .command = "run", .device = "cuda:1"});
  for (const Backend& other : others) {
    CaseReport report =
        check_case(loaded.cases[0], {.device = {&other, 1}, .products = &blas_products()});
    report.seconds = 0;
    // Measured numbers would tie the golden file to one machine's libm.
    if (report.comparison) {
      report.comparison = Comparison{.num_rows_checked = 2,
                                     .num_rows = 2,
                                     .num_elements = 16,
                                     .max_ratio = 0.5,
                                     .median_ratio = 0.25};
    }
    summary.add(report);
    reporter->on_case(report);
  }
  reporter->on_end(summary);
  return out.str();
}

}  // namespace

TEST_CASE("reports name the device, and what became of a call there") {
  std::ostringstream text, jsonl, junit;
  check_golden("report/device.txt", report_of(make_text_reporter(text, {.verbose = true}), text));
  check_golden("report/device.jsonl", report_of(make_jsonl_reporter(jsonl), jsonl));
  check_golden("report/device.xml", report_of(make_junit_reporter(junit), junit));
}
