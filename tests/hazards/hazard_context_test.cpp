#include "src/hazards/hazard_context.h"

#include <doctest/doctest.h>

#include <string>

#include "src/contract/contract.h"
#include "src/inputs/inputs.h"
#include "src/load/load.h"

namespace flashcheck {
namespace {

Case paged_call(const std::string& seqlens_k, const std::string& table) {
  const std::string text =
      R"({"schema": 1, "wrapper": "candle-flash-attn", "function": "flash_attn_varlen_paged_windowed",
  "tensors": {"q": {"dtype": "f16", "shape": [7, 2, 64]},
    "k": {"dtype": "f16", "shape": [5, 32, 2, 64]}, "v": {"dtype": "f16", "shape": [5, 32, 2, 64]},
    "seqlens_q": {"dtype": "u32", "shape": [3], "values": [0, 3, 7]},
    "seqlens_k": {"dtype": "u32", "shape": [3], )" +
      seqlens_k + R"(},
    "block_table": {"dtype": "u32", )" +
      table + R"(}},
  "args": {"max_seqlen_q": 4, "max_seqlen_k": 40, "softmax_scale": 0.125, "window_size_left": null,
    "window_size_right": 0, "page_block_size": 32, "softcap": null}})";
  const LoadResult loaded = load_text(text, "test.json", false);
  REQUIRE(loaded.complaints.empty());
  REQUIRE(loaded.cases.size() == 1);
  return loaded.cases[0];
}

struct Looked {
  Case c;
  Outcome outcome = check_contract(c);
  Inputs inputs = make_inputs(c, false);
  HazardContext context() const { return make_hazard_context(c, *outcome.launch, inputs); }
};

const std::string kTable = R"("shape": [2, 2], "values": [[3, 1], [4294967295, 4]])";

}  // namespace

TEST_CASE("lengths are differences in 32 bits, and -1 is the mark for no table") {
  const Looked looked{paged_call(R"("values": [4294967295, 39, 2147483648])", kTable)};
  const HazardContext context = looked.context();
  REQUIRE(context.sequences);
  CHECK((*context.sequences)[0].k_begin == 0);
  CHECK((*context.sequences)[0].seqlen_k() == 40);
  CHECK((*context.sequences)[1].k_begin == 39);
  CHECK((*context.sequences)[1].seqlen_k() == 2147483609);
  CHECK((*context.sequences)[1].q_begin == 3);
  CHECK((*context.sequences)[1].seqlen_q() == 4);
}

TEST_CASE("a paged kernel reaches to the end of the tile that max_seqlen_k ends in") {
  const Looked looked{paged_call(R"("values": [0, 64, 140])", kTable)};
  const HazardContext context = looked.context();
  CHECK(context.reachable_keys((*context.sequences)[0]) == 64);
  CHECK(context.reachable_keys((*context.sequences)[1]) == 64);
}

TEST_CASE("table entries are read as int32, by the declared and by the launched stride") {
  const Looked looked{
      paged_call(R"("values": [0, 40, 80])",
                 R"("shape": [2, 2], "strides": [3, 1], "values": [[3, 1], [4294967295, 4]])")};
  const HazardContext context = looked.context();
  CHECK(context.declared_page(1, 0) == -1);
  CHECK(context.declared_page(1, 1) == 4);
  CHECK(context.launched_page(0, 1) == 1);
  CHECK(context.launched_page(1, 1) == -1);  // element 3, where the row of 2 columns would end
  CHECK(context.launched_page(1, 2) == 4);
  CHECK_FALSE(context.launched_page(1, 3));
}

TEST_CASE("without values there are no sequences, and with a view past its storage no values") {
  CHECK_FALSE(Looked{paged_call(R"("storage": 9)", kTable)}.context().sequences);
  const Looked looked{paged_call(R"("values": [0, 40, 80])",
                                 R"("shape": [2, 2], "storage": 3, "values": [[3, 1], [0, 4]])")};
  CHECK_FALSE(looked.context().block_table);
  CHECK(looked.context().sequences);
}

}  // namespace flashcheck
