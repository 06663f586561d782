#include <doctest/doctest.h>

#include <string>
#include <utility>
#include <vector>

#include "src/load/load.h"
#include "tests/load/complaint_lines.h"
#include "tests/load/scratch_directory.h"

namespace flashcheck {
namespace {

using Lines = std::vector<std::string>;

/// A paged call on 8 lines: k on the third, v on the fourth, block_table on the sixth.
std::string call(const std::string& k, const std::string& v,
                 const std::string& tables =
                     R"("seqlens_k": {"dtype": "u32", "shape": [2], "values": [0, 40]},
      "block_table": {"dtype": "u32", "shape": [1, 2], "values": [[3, 1]]})",
                 const std::string& args = R"("page_block_size": 32)") {
  return R"({"schema": 1, "wrapper": "none", "function": "flash_attn_varlen_paged_windowed",
    "storages": {"pool": {"elements": 99}}, "tensors": {"q": {"dtype": "f16", "shape": [4, 2, 64]},
      "k": {"dtype": "f16", )" +
         k + R"(},
      "v": {"dtype": "f16", )" +
         v + R"(}, "seqlens_q": {"dtype": "u32", "shape": [2], "values": [0, 4]},
      )" +
         tables +
         R"(},
    "args": {"max_seqlen_q": 4, "max_seqlen_k": 40, "softmax_scale": 0.125, )" +
         args + "}}";
}

std::string layout(const std::string& name, const std::string& more = "") {
  return R"("layout": {"name": ")" + name +
         R"(", "num_blocks": 10, "page_block_size": 32, "num_heads_k": 2, "head_dim": 64)" + more +
         "}";
}

Case load_one(const std::string& text) {
  LoadResult result = load_text(text, "case.json", false);
  REQUIRE(lines_of(result.complaints) == Lines{});
  REQUIRE(result.cases.size() == 1);
  return std::move(result.cases[0]);
}

std::vector<int64_t> ints_of(const TensorSpec& tensor) {
  return std::get<LiteralValues>(*tensor.values).ints;
}

/// With k and v of that layout.
Lines complaints_of_layout(const std::string& k) {
  return complaints_of(call(k, layout("fa-nhd")));
}

TEST_CASE("k and v that an engine keeps in one tensor are in one storage, the size of the cache") {
  const std::string packed = layout("vllm-bhlnc", R"(, "num_layers": 4, "layer": 1)");
  const Case c = load_one(call(packed, packed));
  CHECK(c.k().shape == std::vector<int64_t>{10, 32, 2, 64});
  CHECK(c.k().strides == std::vector<int64_t>{32768, 128, 16384, 1});
  CHECK(c.v().strides == c.k().strides);
  CHECK(c.k().offset == 4096);
  CHECK(c.v().offset == 4096 + 64);
  CHECK(c.k().storage == c.v().storage);
  CHECK(c.storage_elements(c.k()) == 10 * 2 * 4 * 32 * 128);
  CHECK(c.storages[static_cast<size_t>(c.k().storage)].name == "kv");
}

TEST_CASE("k and v that are tensors of their own have storages of their own") {
  const Case c =
      load_one(call(layout("flashinfer-hnd"), layout("flashinfer-hnd", R"(, "base": 8)")));
  CHECK(c.k().strides == std::vector<int64_t>{4096, 64, 2048, 1});
  CHECK(c.k().offset == 0);
  CHECK(c.v().offset == 8);
  CHECK(c.k().storage != c.v().storage);
  CHECK(c.storage_elements(c.k()) == 40960);
  CHECK(c.storage_elements(c.v()) == 40968);
}

TEST_CASE("a storage that is named or counted is the one that is viewed") {
  const std::string view = layout("vllm-packed", R"(, "base": 16)");
  const Case c = load_one(call(view + R"(, "storage": "pool")", view + R"(, "storage": 7)"));
  CHECK(c.storage_elements(c.k()) == 99);
  CHECK(c.storage_elements(c.v()) == 7);
  CHECK(c.k().offset == 16);
  CHECK(c.v().offset == 80);
}

TEST_CASE("a layer's own tensor needs no layers where layers are outermost") {
  const Case one = load_one(call(layout("vllm-lbhnc"), layout("vllm-lbhnc")));
  CHECK(one.storage_elements(one.k()) == 10 * 32 * 2 * 128);
  const std::string third = layout("vllm-lbhnc", R"(, "num_layers": 3, "layer": 2)");
  const Case c = load_one(call(third, third));
  CHECK(c.k().strides == one.k().strides);
  CHECK(c.k().offset == 2 * 10 * 32 * 2 * 128);
  CHECK(c.storage_elements(c.k()) == 3 * 10 * 32 * 2 * 128);
}

TEST_CASE("what a layout cannot be is told with its place") {
  const std::vector<std::pair<std::string, Lines>> rows = {
      {layout("vllm-paked"),
       {"3: FC-C013: /tensors/k/layout/name: expected one of 28 known names, got \"vllm-paked\"; "
        "the nearest is \"vllm-packed\""}},
      {R"("layout": "fa-nhd")",
       {"3: FC-C009: /tensors/k/layout: expected an object, got \"fa-nhd\""}},
      {R"("layout": {})",
       {"3: FC-C008: /tensors/k/layout: expected the key \"name\", got an object without it"}},
      {R"("layout": {"name": "fa-nhd", "page_block_size": 32, "num_heads_k": 2, "head_dim": 64})",
       {"3: FC-C008: /tensors/k/layout: expected the key \"num_blocks\", a size of fa-nhd, got an "
        "object without it"}},
      {layout("fa-nhd", R"(, "num_layers": 2)"),
       {"3: FC-C007: /tensors/k/layout/num_layers: expected one of name, num_blocks, "
        "page_block_size, num_heads_k, head_dim, base, got \"num_layers\"; the nearest is "
        "\"num_blocks\""}},
      {layout("vllm-blhnc"),
       {"3: FC-C008: /tensors/k/layout: expected the key \"num_layers\", a size of vllm-blhnc, got "
        "an object without it",
        "3: FC-C008: /tensors/k/layout: expected the key \"layer\", a size of vllm-blhnc, got an "
        "object without it"}},
      {layout("vllm-lbhnc", R"(, "layer": 0)"),
       {"3: FC-C008: /tensors/k/layout: expected the key \"num_layers\", a size of vllm-lbhnc, got "
        "an object without it"}},
      {layout("trtllm-pool", R"(, "num_layers": 4, "layer": 4)"),
       {"3: FC-C012: /tensors/k/layout/layer: expected a layer below num_layers, 4, got 4"}},
      {layout("fa-nhd", R"(, "base": -1)"),
       {"3: FC-C011: /tensors/k/layout/base: expected an integer from 0 to 9223372036854775807, "
        "got "
        "-1"}},
      {layout("fa-nhd", R"(, "base": 9223372036854775807)"),
       {"3: FC-C019: /tensors/k/layout: expected sizes whose product is at most "
        "9223372036854775807, got larger ones"}},
      {R"("shape": [1], "offset": 0, )" + layout("fa-nhd"),
       {"3: FC-C022: /tensors/k/shape: expected no `shape` beside `layout`, which says it, got an "
        "array of 1",
        "3: FC-C022: /tensors/k/offset: expected no `offset` beside `layout`, which says it, got "
        "0"}},
      {R"("layout": {"name": "sglang-token-pool", "num_slots": 100, "page_block_size": 32,
        "num_heads_k": 2, "head_dim": 64})",
       {"3: FC-C012: /tensors/k/layout/num_slots: expected whole pages of page_block_size 32, got "
        "100 slots"}},
      {R"("layout": {"name": "vllm-x-split"})",
       {"3: FC-C033: /tensors/k/layout: expected a layout that is a view of rank 4 with the last "
        "stride 1, got \"vllm-x-split\", in which k lies as (NB, H, D/x, P, x): dim is split over "
        "two axes, so that it needs a view of rank 5; permute(0,3,1,2,4).contiguous(), "
        "reshaped "
        "to (NB, P, H, D), can be used"}},
      {R"("from": {}, )" + layout("fa-nhd"),
       {"3: FC-C022: /tensors/k/from: expected a `from` on block_table alone, got one on k"}},
  };
  for (const auto& row : rows) {
    CAPTURE(row.first);
    CHECK(complaints_of_layout(row.first) == row.second);
  }
  CHECK(
      complaints_of(call(layout("fa-nhd"), layout("fa-nhd"),
                         R"("seqlens_k": {"dtype": "u32", "layout": {}},
      "block_table": {"dtype": "u32", "shape": [1, 2], "values": [[3, 1]]})")) ==
      Lines{"5: FC-C022: /tensors/seqlens_k/layout: expected a `layout` on k and v alone, got one "
            "on seqlens_k"});
  CHECK(complaints_of(
            call(layout("fa-nhd"), R"("layout": {"name": "llama-cpp-v-trans", "num_streams": 1})"))
            .size() == 1);
}

TEST_CASE("the elements of a file go where the layout has them, and must have its shape") {
  const ScratchDirectory scratch;
  const std::string header =
      R"({"good": {"dtype": "F16", "shape": [1, 2, 2, 8], "data_offsets": [0, 64]},)"
      R"("bad": {"dtype": "F16", "shape": [1, 2, 8, 2], "data_offsets": [64, 128]}})";
  const std::string length{static_cast<char>(header.size()), 0, 0, 0, 0, 0, 0, 0};
  scratch.write("kv.safetensors", length + header + std::string(128, '\0'));
  const std::string packed =
      R"("layout": {"name": "vllm-packed", "num_blocks": 1, "page_block_size": 2, "num_heads_k": 2,
      "head_dim": 8}, "file": "kv.safetensors", "tensor": )";
  const LoadResult good =
      load_text(call(packed + R"("good")", packed + R"("good")"), scratch / "case.json", false);
  CHECK(lines_of(good.complaints) == Lines{});
  REQUIRE(good.cases.size() == 1);
  CHECK(good.cases[0].v().strides == std::vector<int64_t>{64, 32, 16, 1});
  CHECK(good.cases[0].v().offset == 8);
  const LoadResult bad =
      load_text(call(packed + R"("bad")", packed + R"("good")"), scratch / "case.json", false);
  CHECK(lines_of(bad.complaints) ==
        Lines{"3: FC-C029: /tensors/k/layout: expected the file's shape, [1, 2, 8, 2], got "
              "[1, 2, 2, 8]"});
}

std::string table_from(const std::string& form) {
  return R"("block_table": {"dtype": "u32", "from": )" + form + "}";
}
Case load_table(const std::string& form) {
  return load_one(call(layout("fa-nhd"), layout("fa-nhd"), table_from(form)));
}
Lines complaints_of_table(const std::string& tables,
                          const std::string& args = R"("page_block_size": 32)") {
  return complaints_of(call(layout("fa-nhd"), layout("fa-nhd"), tables, args));
}

TEST_CASE("a page table in another form makes block_table and seqlens_k") {
  const std::vector<std::string> forms = {
      R"({"csr": {"indptr": [0, 2, 2, 3], "indices": [7, 1, 4], "last_page_len": [2, 0, 5]}})",
      R"({"req_to_token": [[224, 225, 226, 227, 228, 229, 230, 231, 232, 233, 234, 235, 236, 237,
        238, 239, 240, 241, 242, 243, 244, 245, 246, 247, 248, 249, 250, 251, 252, 253, 254, 255,
        32, 33, -9], [], [128, 129, 130, 131, 132]], "seq_lens": [34, 0, 5]})"};
  for (const std::string& form : forms) {
    CAPTURE(form);
    const Case c = load_table(form);
    const TensorSpec& table = c.at(TensorName::kBlockTable);
    CHECK(table.dtype == Dtype::kU32);
    CHECK(table.shape == std::vector<int64_t>{3, 2});
    CHECK(table.strides == std::vector<int64_t>{2, 1});
    CHECK(ints_of(table) == std::vector<int64_t>{7, 1, 0, 0, 4, 0});
    CHECK(c.storage_elements(table) == 6);
    const TensorSpec& seqlens_k = c.at(TensorName::kSeqlensK);
    CHECK(seqlens_k.dtype == Dtype::kU32);
    CHECK(seqlens_k.shape == std::vector<int64_t>{4});
    CHECK(ints_of(seqlens_k) == std::vector<int64_t>{0, 34, 34, 39});
    CHECK(c.storage_elements(seqlens_k) == 4);
    CHECK(seqlens_k.storage != table.storage);
  }
}

TEST_CASE("what a page table cannot be is told with its place") {
  const std::string good = R"({"csr": {"indptr": [0, 1], "indices": [4], "last_page_len": [5]}})";
  CHECK(complaints_of_table(table_from(good)) == Lines{});
  const std::vector<std::pair<std::string, Lines>> rows = {
      {table_from("{}"),
       {"5: FC-C022: /tensors/block_table/from: expected csr alone, or req_to_token with seq_lens, "
        "got neither"}},
      {table_from(R"({"csr": {}, "seq_lens": []})"),
       {"5: FC-C022: /tensors/block_table/from: expected csr alone, or req_to_token with seq_lens, "
        "got csr and another"}},
      {table_from(R"({"crs": {}})"),
       {"5: FC-C007: /tensors/block_table/from/crs: expected one of csr, req_to_token, seq_lens, "
        "got \"crs\"; the nearest is \"csr\""}},
      {table_from(R"({"csr": {"indptr": [0, 1], "indices": [4.5], "last_page_len": [5]}})"),
       {"5: FC-C011: /tensors/block_table/from/csr/indices/0: expected an integer from -2147483648 "
        "to 2147483647, got 4.5"}},
      {table_from(R"({"csr": {"indptr": [0, 1], "indices": [4]}})"),
       {"5: FC-C008: /tensors/block_table/from/csr: expected the key \"last_page_len\", got an "
        "object without it"}},
      {table_from(R"({"csr": {"indptr": [0, 2], "indices": [4], "last_page_len": [5]}})"),
       {"5: FC-C034: /tensors/block_table/from/csr: expected 2 indices, as indptr ends, got 1"}},
      {table_from(R"({"req_to_token": [[32, 33, 35]], "seq_lens": [3]})"),
       {"5: FC-C034: /tensors/block_table/from/req_to_token: expected consecutive slots in a page "
        "of 32, got slot 35 after 33 at token 2 of sequence 0"}},
      {table_from(R"({"req_to_token": [[32, 33, 35]]})"),
       {"5: FC-C008: /tensors/block_table/from: expected the key \"seq_lens\", got an object "
        "without it"}},
      {R"("block_table": {"dtype": "f16", "from": )" + good + "}",
       {"5: FC-C021: /tensors/block_table/dtype: expected u32, i32 or i64, which hold every page "
        "id, got \"f16\""}},
      {R"("block_table": {"dtype": "u32", "shape": [1, 1], "from": )" + good + "}",
       {"5: FC-C022: /tensors/block_table/shape: expected no `shape` beside `from`, which says it, "
        "got an array of 2"}},
      {R"("seqlens_k": {"dtype": "u32", "shape": [2], "values": [0, 40]}, )" + table_from(good),
       {"5: FC-C022: /tensors/seqlens_k: expected no seqlens_k beside the `from` of block_table, "
        "which has the lengths, got an object"}},
  };
  for (const auto& row : rows) {
    CAPTURE(row.first);
    CHECK(complaints_of_table(row.first) == row.second);
  }
  CHECK(complaints_of_table(table_from(good), R"("page_block_size": 0)") ==
        Lines{"5: FC-C022: /tensors/block_table/from: expected a page_block_size above 0 for "
              "`from`, got 0"});
  const std::string long_table =
      R"({"csr": {"indptr": [0, 1, 2, 3], "indices": [0, 0, 0], "last_page_len":
        [2147483647, 2147483647, 2147483647]}})";
  CHECK(complaints_of_table(table_from(long_table), R"("page_block_size": 2147483647)") ==
        Lines{"5: FC-C021: /tensors/block_table: expected lengths whose sum a u32 holds, got "
              "6442450941 tokens"});
}

}  // namespace
}  // namespace flashcheck
