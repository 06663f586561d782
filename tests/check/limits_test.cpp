#include <doctest/doctest.h>

#include <memory>
#include <string_view>

#include "src/check_case.h"

namespace flashcheck {
namespace {

/// Row-major unless `strides` are given, its storage as large as the view.
void put(Case& c, TensorName name, Dtype dtype, std::vector<int64_t> shape,
         std::vector<int64_t> strides = {}, std::vector<int64_t> values = {}) {
  TensorSpec tensor{.dtype = dtype, .shape = std::move(shape), .strides = std::move(strides)};
  if (tensor.strides.empty()) tensor.strides = *contiguous_strides(tensor.shape);
  if (!values.empty()) {
    tensor.values = std::make_shared<const Values>(LiteralValues{.ints = std::move(values)});
  }
  tensor.storage = static_cast<int64_t>(c.storages.size());
  c.storages.push_back({std::string(name_of(name)), *tensor.span()});
  c.tensors[static_cast<size_t>(name)] = std::move(tensor);
}

/// One query row over `keys` keys, all of them one row of k and v.
Case varlen_call(int64_t keys) {
  Case c;
  c.function = find_function(Wrapper::kCandleFlashAttn, "flash_attn_varlen");
  put(c, TensorName::kQ, Dtype::kF16, {1, 1, 8});
  put(c, TensorName::kK, Dtype::kF16, {keys, 1, 8}, {0, 8, 1});
  put(c, TensorName::kV, Dtype::kF16, {keys, 1, 8}, {0, 8, 1});
  put(c, TensorName::kSeqlensQ, Dtype::kU32, {2}, {}, {0, 1});
  put(c, TensorName::kSeqlensK, Dtype::kU32, {2}, {}, {0, keys});
  c.args.max_seqlen_q = c.args.max_seqlen_k = 1;
  return c;
}

/// One query row over as many pages, every entry of the table the same one.
Case paged_call(int64_t pages) {
  constexpr int64_t kPageRows = 1 << 20;
  Case c;
  c.function = find_function(Wrapper::kNone, "flash_attn_varlen_paged_windowed");
  put(c, TensorName::kQ, Dtype::kF16, {1, 1, 8});
  put(c, TensorName::kK, Dtype::kF16, {1, kPageRows, 1, 8}, {0, 0, 8, 1});
  put(c, TensorName::kV, Dtype::kF16, {1, kPageRows, 1, 8}, {0, 0, 8, 1});
  put(c, TensorName::kSeqlensQ, Dtype::kU32, {2}, {}, {0, 1});
  put(c, TensorName::kSeqlensK, Dtype::kU32, {2}, {}, {0, pages * kPageRows});
  put(c, TensorName::kBlockTable, Dtype::kU32, {1, pages}, {},
      std::vector<int64_t>(static_cast<size_t>(pages), 0));
  c.args.page_block_size = kPageRows;
  c.args.max_seqlen_q = 1;
  c.args.max_seqlen_k = pages * kPageRows;
  return c;
}

/// The code of the finding that says why the call was not run; "" if it ran.
std::string_view why_not_run(const Case& c, const CheckOptions& options) {
  const CaseReport report = check_case(c, options);
  if (report.ran) return "";
  REQUIRE(report.findings.size() == 1);
  return report.findings[0].rule->code;
}

}  // namespace

TEST_CASE("the work of a call is that of its true lengths, whatever max_seqlen_k says") {
  // Two products of 8 multiply-adds a key.
  CHECK(why_not_run(varlen_call(1000), {.max_work = 16'000}) == "");
  CHECK(why_not_run(varlen_call(1000), {.max_work = 15'999}) == "FC-X102");
}

TEST_CASE("a page that a table names many times is gathered as often") {
  CHECK(why_not_run(paged_call(2), {.max_memory_bytes = int64_t{300} << 20}) == "");
  CHECK(why_not_run(paged_call(2), {.max_memory_bytes = int64_t{200} << 20}) == "FC-X101");
}

TEST_CASE("a batch that is too large to look at is told as such") {
  Case c;
  c.function = find_function(Wrapper::kNone, "flash_attn");
  for (const TensorName name : {TensorName::kQ, TensorName::kK, TensorName::kV}) {
    put(c, name, Dtype::kF16, {1'000'001, 1, 1, 8}, {0, 8, 8, 1});
  }
  const CaseReport report = check_case(c, {});
  REQUIRE(report.findings.size() == 1);
  CHECK(report.findings[0].message ==
        "not run: a batch of 1000001 is too large to look at each sequence");
  CHECK(report.findings[0].where == "/tensors/q");
}

}  // namespace flashcheck
