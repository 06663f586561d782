#include <doctest/doctest.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <string>

#include "src/layouts/layout.h"
#include "src/load/load.h"
#include "tests/cli/program.h"
#include "tests/golden.h"

namespace {

using flashcheck::TensorSpec;

/// A call whose `tensors` begin with `entries`.
std::string call_with(const std::string& entries) {
  return R"({"schema": 1, "wrapper": "none", "function": "flash_attn", "tensors": {)" + entries +
         R"("q": {"dtype": "f16", "shape": [1, 1, 2, 64]}},
    "args": {"softmax_scale": 1, "causal": false}})";
}

std::string view_text(const TensorSpec& tensor) {
  return fmt::format("shape [{}], strides [{}], offset {}\n", fmt::join(tensor.shape, ", "),
                     fmt::join(tensor.strides, ", "), tensor.offset);
}

}  // namespace

TEST_CASE("pages of layouts") {
  check_golden("layouts/list.txt", flashcheck_program("layouts").whole());
  check_golden(
      "layouts/pages.txt",
      flashcheck_program("layouts vllm-packed sglang-token-pool mla-latent vllm-x-split").whole());
  check_golden("layouts/unknown.txt", flashcheck_program("layouts vllm-paked").whole());
  check_golden("layouts/tables.txt",
               flashcheck_program("layouts --tables cases/layout-flashinfer-hnd.json "
                                  "cases/layout-fa-dense.json")
                   .whole());
}

TEST_CASE("the example on a layout's page loads, and gives the numbers above it") {
  int examples = 0;
  for (const flashcheck::Layout& layout : flashcheck::layouts()) {
    CAPTURE(layout.name);
    const ProgramResult page = flashcheck_program("layouts " + std::string(layout.name));
    CHECK(page.status == 0);
    const size_t entries = page.out.find("    \"k\": ");
    CHECK((entries != std::string::npos) == is_view(layout));
    if (entries == std::string::npos) continue;
    const flashcheck::LoadResult loaded =
        flashcheck::load_text(call_with(page.out.substr(entries)), "example.json", false);
    REQUIRE(loaded.complaints.empty());
    REQUIRE(loaded.cases.size() == 1);
    const flashcheck::Case& c = loaded.cases[0];
    CHECK(page.out.find("  k        " + view_text(c.k())) != std::string::npos);
    CHECK(page.out.find("  v        " + view_text(c.v())) != std::string::npos);
    const std::string elements = fmt::format("  {} elements", c.storage_elements(c.k()));
    CHECK(page.out.find(elements) != std::string::npos);
    ++examples;
  }
  CHECK(examples == 23);
}

TEST_CASE("the forms of a page table are the `from` of another case") {
  const std::string csr =
      R"({"csr": {"indptr": [0, 2, 3], "indices": [3, 1, 4], "last_page_len": [9, 20]}})";
  for (const std::string name : {"vllm-packed", "flashinfer-nhd", "sglang-token-pool"}) {
    CAPTURE(name);
    const ProgramResult tables =
        flashcheck_program("layouts --tables cases/layout-" + name + ".json");
    CHECK(tables.status == 0);
    CHECK(tables.out.find("  csr           " + csr + "\n") != std::string::npos);
  }
}

TEST_CASE("page tables that are none are named") {
  CHECK(flashcheck_program("layouts --tables cases/layout-fa-dense.json").status == 4);
  CHECK(flashcheck_program("layouts --tables tests/cli/fixtures/broken.json").status == 3);
  CHECK(flashcheck_program("layouts fa-nhd --tables cases/layout-fa-dense.json").status == 2);
}
