#include "src/load/load.h"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "tests/load/complaint_lines.h"

namespace flashcheck {
namespace {

Case load_one(const std::string& text) {
  LoadResult result = load_text(text, "dir/case.json", false);
  REQUIRE(lines_of(result.complaints) == std::vector<std::string>{});
  REQUIRE(result.cases.size() == 1);
  return std::move(result.cases[0]);
}

std::vector<int64_t> ints_of(const TensorSpec& tensor) {
  return std::get<LiteralValues>(*tensor.values).ints;
}
std::vector<double> floats_of(const TensorSpec& tensor) {
  return std::get<LiteralValues>(*tensor.values).floats;
}

/// A case of flash_attn whose q has the members given.
Case load_q(const std::string& members) {
  return load_one(R"({"schema": 1, "wrapper": "candle-flash-attn", "function": "flash_attn",
    "tensors": {"q": {)" +
                  members + R"(}, "k": {"dtype": "f16", "shape": []},
    "v": {"dtype": "f16", "shape": []}}, "args": {"softmax_scale": 1, "causal": true}})");
}

TEST_CASE("a document is read field for field") {
  const Case c = load_one(document_with(
      "\"expect\"", R"("note": "Why.", "refs": ["a#1", "b"], "seed": 18446744073709551615,
  "arithmetic": {"accumulate": "f16", "p": "f32", "tanh": "approximate"},
  "expect")"));
  CHECK(c.id == "case");
  CHECK(c.source.path == "dir/case.json");
  CHECK(c.source.line == 1);
  CHECK(c.note == "Why.");
  CHECK(c.refs == std::vector<std::string>{"a#1", "b"});
  CHECK(c.seed == std::numeric_limits<uint64_t>::max());
  CHECK(c.arithmetic == Arithmetic{Arithmetic::Accumulate::kF16, Arithmetic::P::kF32,
                                   Arithmetic::Tanh::kApproximate});
  CHECK(c.function == find_function(Wrapper::kCandleFlashAttn, "flash_attn_varlen_paged_windowed"));
  CHECK(c.args.softmax_scale == 0.125f);
  CHECK(c.args.max_seqlen_q == 4);
  CHECK(c.args.max_seqlen_k == 40);
  CHECK(c.args.page_block_size == 32);
  CHECK_FALSE(c.args.window_size_left.has_value());
  CHECK_FALSE(c.args.softcap.has_value());

  CHECK(c.q().dtype == Dtype::kF16);
  CHECK(c.q().shape == std::vector<int64_t>{4, 2, 64});
  CHECK(c.q().strides == std::vector<int64_t>{128, 64, 1});
  CHECK(c.q().device == Device{});
  CHECK(std::holds_alternative<std::monostate>(*c.q().values));
  CHECK(c.k().strides == std::vector<int64_t>{8192, 128, 64, 1});
  CHECK(c.v().offset == 4096);
  CHECK(ints_of(c.at(TensorName::kBlockTable)) == std::vector<int64_t>{3, 1});
  CHECK(c.find(TensorName::kOut) == nullptr);
  CHECK(c.find(TensorName::kMmPrefixRanges) == nullptr);

  REQUIRE(c.storages.size() == 5);
  CHECK(c.k().storage == c.v().storage);
  CHECK(c.storage_elements(c.k()) == 32768);
  CHECK(c.storages[static_cast<size_t>(c.k().storage)].name == "pool");
  CHECK(c.storage_elements(c.q()) == 4 * 2 * 64);
  CHECK(c.storages[static_cast<size_t>(c.q().storage)].name == "q");

  REQUIRE(c.expect);
  CHECK(c.expect->verdict == Verdict::kOk);
  CHECK_FALSE(c.expect->error.has_value());
}

TEST_CASE("a file without expect and tests is a question") {
  const Case c = load_one(document_with(",\n  \"expect\": {\"verdict\": \"ok\"}", ""));
  CHECK_FALSE(c.expect.has_value());
  CHECK(c.id == "case");
}

TEST_CASE("a storage of its own is just large enough, or as large as the case says") {
  const Case dense = load_q(R"("dtype": "f16", "shape": [2, 3], "strides": [10, 2], "offset": 5)");
  CHECK(dense.storage_elements(dense.q()) == 5 + 10 + 4 + 1);
  const Case empty = load_q(R"("dtype": "f16", "shape": [2, 0], "offset": 5)");
  CHECK(empty.storage_elements(empty.q()) == 5);
  const Case scalar = load_q(R"("dtype": "f16", "shape": [])");
  CHECK(scalar.storage_elements(scalar.q()) == 1);
  const Case small = load_q(R"("dtype": "f16", "shape": [2, 3], "offset": 5, "storage": 0)");
  CHECK(small.storage_elements(small.q()) == 0);
}

TEST_CASE("strides of any kind are kept, row-major ones are the default") {
  CHECK(load_q(R"("dtype": "f16", "shape": [2, 3, 4])").q().strides ==
        std::vector<int64_t>{12, 4, 1});
  CHECK(load_q(R"("dtype": "f16", "shape": [2, 0, 4], "strides": null)").q().strides ==
        std::vector<int64_t>{0, 4, 1});
  CHECK(load_q(R"("dtype": "f16", "shape": [1, 2], "strides": [9223372036854775807, 0])")
            .q()
            .strides == std::vector<int64_t>{9223372036854775807, 0});
}

TEST_CASE("values are read nested or flat, in row-major order") {
  const std::vector<double> six{1, 2, 3, 4, 5, 6};
  CHECK(floats_of(
            load_q(R"("dtype": "f16", "shape": [2, 3], "values": [[1, 2, 3], [4, 5, 6]])").q()) ==
        six);
  CHECK(floats_of(load_q(R"("dtype": "f16", "shape": [2, 3], "values": [1, 2, 3, 4, 5, 6])").q()) ==
        six);
  CHECK(floats_of(load_q(R"("dtype": "f16", "shape": [2, 0], "values": [[], []])").q()).empty());
  CHECK(floats_of(load_q(R"("dtype": "f16", "shape": [2, 0], "values": [])").q()).empty());
  CHECK(floats_of(load_q(R"("dtype": "f64", "shape": [], "values": 0.1)").q()) ==
        std::vector<double>{0.1});
  CHECK(floats_of(load_q(R"("dtype": "f64", "shape": [], "values": [0.1])").q()) ==
        std::vector<double>{0.1});
  CHECK(ints_of(load_q(R"("dtype": "i64", "shape": [2],
                          "values": [-9223372036854775808, 9223372036854775807])")
                    .q()) == std::vector<int64_t>{std::numeric_limits<int64_t>::min(),
                                                  std::numeric_limits<int64_t>::max()});
}

TEST_CASE("numbers that JSON does not have are strings, and -0 keeps its sign") {
  const std::vector<double> floats = floats_of(
      load_q(R"("dtype": "f16", "shape": [5], "values": ["inf", "-inf", "nan", -0, -0.0])").q());
  CHECK(floats[0] == std::numeric_limits<double>::infinity());
  CHECK(floats[1] == -std::numeric_limits<double>::infinity());
  CHECK(std::isnan(floats[2]));
  CHECK(std::signbit(floats[3]));
  CHECK(std::signbit(floats[4]));
}

TEST_CASE("the largest and the smallest element of each dtype is accepted") {
  const auto largest = [](const std::string& dtype, const std::string& value) {
    return floats_of(
        load_q("\"dtype\": \"" + dtype + "\", \"shape\": [1], \"values\": [" + value + "]").q())[0];
  };
  CHECK(largest("f16", "65504") == 65504);
  CHECK(largest("f16", "65519") == 65519);  // rounds to 65504
  CHECK(largest("bf16", "3.3895313892515355e38") == 3.3895313892515355e38);
  CHECK(largest("f8e4m3", "448") == 448);
  CHECK(largest("f32", "1e-300") == 1e-300);  // rounds to 0, as a cast would
}

TEST_CASE("every generator is read with its parameters and defaults") {
  const auto fill = [](const std::string& text) {
    return std::get<Fill>(*load_q(R"("dtype": "f16", "shape": [2], "fill": )" + text).q().values);
  };
  const Fill normal = fill(R"({"generator": "normal"})");
  CHECK(normal.generator == Fill::Generator::kNormal);
  CHECK(normal.mean == 0);
  CHECK(normal.std == 1);
  CHECK(normal.seed == 0);
  const Fill scaled = fill(R"({"generator": "normal", "seed": 7, "mean": -1, "std": 0.5})");
  CHECK(scaled.seed == 7);
  CHECK(scaled.mean == -1);
  CHECK(scaled.std == 0.5);
  const Fill uniform = fill(R"({"generator": "uniform", "low": 2, "high": 3})");
  CHECK(uniform.generator == Fill::Generator::kUniform);
  CHECK(uniform.low == 2);
  CHECK(uniform.high == 3);
  const Fill constant = fill(R"({"generator": "constant", "value": "nan"})");
  CHECK(constant.generator == Fill::Generator::kConstant);
  CHECK(std::isnan(constant.value));
  const Fill ramp = fill(
      R"({"generator": "ramp", "start": 1, "step": 2, "modulo": 3, "divide": 4, "multiply": 5,
          "order": "storage"})");
  CHECK(ramp.generator == Fill::Generator::kRamp);
  CHECK(ramp.start == 1);
  CHECK(ramp.step == 2);
  CHECK(ramp.modulo == 3);
  CHECK(ramp.divide == 4);
  CHECK(ramp.multiply == 5);
  CHECK(ramp.in_storage_order);
  CHECK_FALSE(fill(R"({"generator": "ramp", "order": "logical"})").in_storage_order);
}

TEST_CASE("devices and axes are kept") {
  const Case c = load_q(R"("dtype": "f16", "shape": [2, 3], "device": "metal:3",
                           "axes": ["token", "head"])");
  CHECK(c.q().device == Device{Device::Kind::kMetal, 3});
  CHECK(c.q().axes == std::vector<std::string>{"token", "head"});
}

TEST_CASE("expect is read field for field") {
  const auto expect = [](const std::string& text) {
    return *load_one(document_with("{\"verdict\": \"ok\"}", text)).expect;
  };
  CHECK(expect(R"({"error": "e\u00e9 \"quoted\""})").error == "e\u00e9 \"quoted\"");
  CHECK(expect(R"({"panic": ""})").panic == "");
  CHECK(expect(R"({"hazards": []})").hazards->empty());
  CHECK(expect(R"({"hazards": ["FC-H002", "FC-H001"]})").hazards ==
        std::vector<std::string>{"FC-H002", "FC-H001"});
  CHECK(expect(R"({"cause": "FC-M004"})").cause == "FC-M004");
  const Expect launch = expect(
      R"({"launch": {"softmax_scale": 0.1, "b": 1, "block_table_offset_bytes": null,
          "cu_seqlens_q_offset_bytes": 8, "has_alibi": false, "softcap": 0, "window_size_left": -1}})");
  REQUIRE(launch.launch.size() == 7);
  CHECK(launch.launch[0].name == "softmax_scale");
  CHECK(launch.launch[0].value == LaunchValue(static_cast<double>(0.1f)));
  CHECK(launch.launch[1].value == LaunchValue(int64_t{1}));
  CHECK(launch.launch[2].value == LaunchValue(std::monostate{}));
  CHECK(launch.launch[3].value == LaunchValue(int64_t{8}));
  CHECK(launch.launch[4].value == LaunchValue(false));
  CHECK(launch.launch[5].value == LaunchValue(0.0));
  CHECK(launch.launch[6].value == LaunchValue(int64_t{-1}));
}

TEST_CASE("a control with an expect is a test, and each entry of tests changes it") {
  const std::string text = document_with(R"("expect": {"verdict": "ok"})", R"("note": "Control.",
  "expect": {"verdict": "ok"},
  "tests": [
    {
      "id": "k-rank-3",
      "note": "Test.",
      "change": {"tensors": {"k": {"shape": [128, 2, 64], "strides": null}}},
      "expect": {"error": "e"}
    },
    {"id": "other-function", "change": {"function": "flash_attn_varlen_windowed",
      "tensors": {"block_table": null, "out": {"dtype": "f32", "shape": [1]}},
      "args": {"page_block_size": null, "window_size_left": 3}, "seed": 9}}
  ])");
  const LoadResult result = load_text(text, "case.json", false);
  REQUIRE(lines_of(result.complaints) == std::vector<std::string>{});
  REQUIRE(result.cases.size() == 3);
  const Case& control = result.cases[0];
  const Case& rank = result.cases[1];
  const Case& other = result.cases[2];
  CHECK(control.id == "case");
  CHECK(control.note == "Control.");
  CHECK(control.source.line == 1);

  CHECK(rank.id == "case/k-rank-3");
  CHECK(rank.note == "Test.");
  CHECK(rank.source.line == 18);
  CHECK(rank.k().shape == std::vector<int64_t>{128, 2, 64});
  CHECK(rank.k().strides == std::vector<int64_t>{128, 64, 1});
  CHECK(rank.v().shape == control.v().shape);
  CHECK(rank.expect->error == "e");
  CHECK_FALSE(rank.expect->verdict.has_value());

  CHECK(other.id == "case/other-function");
  CHECK(other.note.empty());
  CHECK(other.source.line == 24);
  CHECK(other.function->name == "flash_attn_varlen_windowed");
  CHECK(other.find(TensorName::kBlockTable) == nullptr);
  CHECK(other.at(TensorName::kOut).dtype == Dtype::kF32);
  CHECK(other.args.window_size_left == 3);
  CHECK(other.seed == 9);
  CHECK_FALSE(other.expect.has_value());
}

TEST_CASE("a control without an expect is no test of its own and may be incomplete") {
  const std::string text = document_with(R"("expect": {"verdict": "ok"})", R"("tests": [
    {"id": "a", "change": {"tensors": {"q": {"dtype": "bf16"}}}}])");
  const LoadResult result = load_text(text, "case.json", false);
  REQUIRE(result.cases.size() == 1);
  CHECK(result.cases[0].id == "case/a");
  CHECK(result.cases[0].q().dtype == Dtype::kBF16);
}

TEST_CASE("the tests of a file share the elements that they do not change") {
  const std::string text = document_with(R"("expect": {"verdict": "ok"})", R"("tests": [
    {"id": "a", "change": {}},
    {"id": "b", "change": {"tensors": {"seqlens_k": {"offset": 1}}}},
    {"id": "c", "change": {"tensors": {"seqlens_k": {"dtype": "i32"}}}}])");
  const LoadResult result = load_text(text, "case.json", false);
  REQUIRE(result.cases.size() == 3);
  const auto& a = result.cases[0].at(TensorName::kSeqlensK).values;
  CHECK(a == result.cases[1].at(TensorName::kSeqlensK).values);
  CHECK(a != result.cases[2].at(TensorName::kSeqlensK).values);
}

TEST_CASE("an id of its own takes the place of the file's stem") {
  const std::string text = document_with("\"schema\": 1", "\"schema\": 1, \"id\": \"x.y_z-1\"");
  CHECK(load_one(text).id == "x.y_z-1");
}

TEST_CASE("lines are cases, blank ones are skipped, and positions are the file's") {
  std::string line = document_with("", "");
  for (char& c : line) {
    if (c == '\n') c = ' ';
  }
  std::string named = line;
  named.replace(named.find("\"schema\""), 8, "\"id\": \"named\", \"schema\"");
  const LoadResult result =
      load_text("\xEF\xBB\xBF" + line + "\r\n\n  \n" + named + "\n" + line, "d/l.jsonl", true);
  REQUIRE(lines_of(result.complaints) == std::vector<std::string>{});
  REQUIRE(result.cases.size() == 3);
  CHECK(result.cases[0].id == "l:1");
  CHECK(result.cases[1].id == "named");
  CHECK(result.cases[1].source.line == 4);
  CHECK(result.cases[2].id == "l:5");

  const LoadResult broken =
      load_text(line + "\n" + line + "x\n" + named + "\n" + named + "\n{", "l.jsonl", true);
  CHECK(broken.cases.empty());
  CHECK(lines_of(broken.complaints) ==
        std::vector<std::string>{
            "2: FC-C003: the document: expected the end of the text, got \"x\"",
            "4: FC-C025: /id: expected an id of its own, got \"named\" again",
            "5: FC-C003: the document: expected a key in double quotes or '}', got the end of the "
            "text"});
}

TEST_CASE("a file of lines without one is no file of cases") {
  CHECK(lines_of(load_text("", "l.jsonl", true).complaints) ==
        std::vector<std::string>{
            "1: FC-C030: the file: expected a case on at least one line, got none"});
  CHECK(lines_of(load_text("\n \n", "l.jsonl", true).complaints) ==
        std::vector<std::string>{
            "1: FC-C030: the file: expected a case on at least one line, got none"});
  CHECK(complaints_of("") ==
        std::vector<std::string>{
            "1: FC-C003: the document: expected a JSON value, got the end of the text"});
}

}  // namespace
}  // namespace flashcheck
