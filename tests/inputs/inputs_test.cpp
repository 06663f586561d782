#include "src/inputs/inputs.h"

#include <doctest/doctest.h>
#include <unistd.h>

#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "src/inputs/fill.h"
#include "src/inputs/input_rules.h"
#include "tests/inputs/cases.h"

using namespace flashcheck;
using namespace flashcheck::testing;

namespace {

std::vector<double> elements(const Inputs& inputs, const TensorSpec& tensor) {
  const StorageBytes& storage = inputs.storages[static_cast<size_t>(tensor.storage)];
  std::vector<double> values;
  for (int64_t n = 0; n < storage.size_bytes() / size_in_bytes(tensor.dtype); ++n) {
    values.push_back(read_element(storage, tensor.dtype, n));
  }
  return values;
}

/// The code that make_inputs throws, "" if it does not.
std::string_view complaint(const Case& c, std::string* message = nullptr) {
  try {
    make_inputs(c, true);
  } catch (const InputError& error) {
    if (message) *message = error.finding.message;
    return error.finding.rule->code;
  }
  return "";
}

class TemporaryFile {
 public:
  explicit TemporaryFile(const std::string& bytes)
      : path_(std::filesystem::temp_directory_path() /
              ("flashcheck-inputs-test-" + std::to_string(getpid()))) {
    std::ofstream(path_, std::ios::binary) << bytes;
  }
  ~TemporaryFile() { std::filesystem::remove(path_); }
  std::string path() const { return path_.string(); }

 private:
  std::filesystem::path path_;
};

}  // namespace

TEST_CASE("q, k and v without values differ, and depend on the case's seed alone") {
  CaseBuilder builder;
  const Inputs inputs = make_inputs(builder.get(), true);
  const std::vector<double> q = elements(inputs, builder.get().q());
  CHECK(q.size() == 16);
  CHECK(q != elements(inputs, builder.get().k()));
  CHECK(elements(inputs, builder.get().k()) != elements(inputs, builder.get().v()));
  for (const double x : q) CHECK(std::isfinite(x));
  CHECK(elements(make_inputs(builder.get(), true), builder.get().q()) == q);
  builder.get().seed = 1;
  CHECK(elements(make_inputs(builder.get(), true), builder.get().q()) != q);
}

TEST_CASE("tables are not invented, slopes are") {
  CaseBuilder builder;
  builder.add(TensorName::kSeqlensQ, Dtype::kU32, {3});
  builder.add(TensorName::kAlibiSlopes, Dtype::kF32, {4});
  const Inputs inputs = make_inputs(builder.get(), true);
  CHECK(elements(inputs, builder.tensor(TensorName::kSeqlensQ)) ==
        std::vector<double>(3, 4294967295.0));
  CHECK(elements(inputs, builder.tensor(TensorName::kAlibiSlopes)) ==
        std::vector<double>{0.25, 0.0625, 0.015625, 0.00390625});
}

TEST_CASE("without data the large tensors have no bytes") {
  CaseBuilder builder;
  builder.add(TensorName::kSeqlensQ, Dtype::kU32, {2}, LiteralValues{.ints = {0, 2}});
  const Inputs inputs = make_inputs(builder.get(), false);
  CHECK(inputs.storages[0].size_bytes() == 0);
  CHECK(elements(inputs, builder.tensor(TensorName::kSeqlensQ)) == std::vector<double>{0, 2});
}

TEST_CASE("without data a small tensor cannot take the machine's memory") {
  CaseBuilder builder;
  TensorSpec& table =
      builder.add(TensorName::kBlockTable, Dtype::kU32, {2, 1}, LiteralValues{.ints = {0, 1}});
  table.strides = {int64_t{1} << 40, 1};
  const size_t storage = static_cast<size_t>(table.storage);
  builder.get().storages[storage].elements = *table.span();
  CHECK(make_inputs(builder.get(), false).storages[storage].size_bytes() == 0);
}

TEST_CASE("integers go in exactly") {
  CaseBuilder builder;
  const int64_t odd = (int64_t{1} << 53) + 1;  // no double
  builder.add(TensorName::kSeqlensQ, Dtype::kI64, {2}, LiteralValues{.ints = {odd, INT64_MIN}});
  builder.add(TensorName::kSeqlensK, Dtype::kU32, {2}, LiteralValues{.ints = {4294967295, 0}});
  builder.add(TensorName::kBlockTable, Dtype::kI16, {2}, LiteralValues{.ints = {-32768, 32767}});
  builder.add(TensorName::kMmPrefixRanges, Dtype::kU8, {2}, LiteralValues{.ints = {255, 1}});
  const Inputs inputs = make_inputs(builder.get(), true);
  const auto read = [&](TensorName name, int64_t index) {
    const TensorSpec& tensor = builder.tensor(name);
    return read_integer(inputs.storages[static_cast<size_t>(tensor.storage)], tensor.dtype, index);
  };
  CHECK(read(TensorName::kSeqlensQ, 0) == odd);
  CHECK(read(TensorName::kSeqlensQ, 1) == INT64_MIN);
  CHECK(read(TensorName::kSeqlensK, 0) == 4294967295);
  CHECK(read(TensorName::kBlockTable, 0) == -32768);
  CHECK(read(TensorName::kMmPrefixRanges, 0) == 255);
}

TEST_CASE("strides and offset place the values; the rest stays NaN") {
  CaseBuilder builder;
  TensorSpec& q =
      builder.add(TensorName::kQ, Dtype::kF32, {2, 2}, LiteralValues{.floats = {1, 2, 3, 4}});
  q.strides = {1, 3};
  q.offset = 2;
  builder.get().storages[static_cast<size_t>(q.storage)].elements = 8;
  const std::vector<double> all = elements(make_inputs(builder.get(), true), q);
  for (const size_t n : {0u, 1u, 4u, 7u}) CHECK(std::isnan(all[n]));
  CHECK(all[2] == 1);
  CHECK(all[5] == 2);
  CHECK(all[3] == 3);
  CHECK(all[6] == 4);
}

TEST_CASE("where elements fall together the last one wins, also of an expanded dim") {
  CaseBuilder builder;
  TensorSpec& q =
      builder.add(TensorName::kQ, Dtype::kF32, {3, 2}, Fill{.generator = Fill::Generator::kRamp});
  q.strides = {0, 1};
  builder.get().storages[static_cast<size_t>(q.storage)].elements = 2;
  CHECK(elements(make_inputs(builder.get(), true), q) == std::vector<double>{4, 5});
  q.strides = {1, 1};
  builder.get().storages[static_cast<size_t>(q.storage)].elements = 4;
  CHECK(elements(make_inputs(builder.get(), true), q) == std::vector<double>{0, 2, 4, 5});
}

TEST_CASE("an expanded dim of any size costs nothing") {
  CaseBuilder builder;
  TensorSpec& q = builder.tensor(TensorName::kQ);
  q.shape = {int64_t{1} << 40, 8};
  q.strides = {0, 1};
  CHECK(complaint(builder.get()) == "");
  q.strides = {1, 1};
  CHECK(complaint(builder.get()) == "FC-X005");
}

TEST_CASE("a ramp may count in the storage's order") {
  CaseBuilder builder;
  TensorSpec& q =
      builder.add(TensorName::kQ, Dtype::kF32, {2, 2},
                  Fill{.generator = Fill::Generator::kRamp, .start = 10, .in_storage_order = true});
  q.strides = {1, 2};
  q.offset = 1;
  builder.get().storages[static_cast<size_t>(q.storage)].elements = 5;
  const std::vector<double> all = elements(make_inputs(builder.get(), true), q);
  CHECK(std::vector<double>(all.begin() + 1, all.end()) == std::vector<double>{10, 11, 12, 13});
}

TEST_CASE("tensors that share a storage are written in the order of their names") {
  CaseBuilder builder;
  builder.add(TensorName::kK, Dtype::kF32, {4}, LiteralValues{.floats = {1, 1, 1, 1}});
  TensorSpec& v = builder.add(TensorName::kV, Dtype::kF32, {2}, LiteralValues{.floats = {2, 2}});
  v.storage = builder.get().k().storage;
  v.offset = 1;
  CHECK(elements(make_inputs(builder.get(), true), builder.get().k()) ==
        std::vector<double>{1, 2, 2, 1});
}

TEST_CASE("what a tensor claims outside its storage is left alone") {
  CaseBuilder builder;
  TensorSpec& q =
      builder.add(TensorName::kQ, Dtype::kF32, {4}, LiteralValues{.floats = {1, 2, 3, 4}});
  builder.get().storages[static_cast<size_t>(q.storage)].elements = 2;
  CHECK(elements(make_inputs(builder.get(), true), q) == std::vector<double>{1, 2});
  q.offset = INT64_MAX - 1;
  CHECK(std::isnan(elements(make_inputs(builder.get(), true), q)[0]));
  q.shape = {0, int64_t{1} << 62, 4};
  q.strides = {0, 4, 1};
  q.values = std::make_shared<const Values>();
  CHECK(complaint(builder.get()) == "");
}

TEST_CASE("values that a dtype cannot hold") {
  const auto refused = [](Dtype dtype, Values values) {
    CaseBuilder builder;
    builder.add(TensorName::kOut, dtype, {1}, std::move(values));
    std::string message;
    complaint(builder.get(), &message);
    return message;
  };
  CHECK(refused(Dtype::kF16, LiteralValues{.floats = {65519}}) == "");
  CHECK(refused(Dtype::kF16, LiteralValues{.floats = {65520}}) ==
        "out: element 0 is 65520, which f16 cannot hold");
  CHECK(refused(Dtype::kF16, LiteralValues{.floats = {HUGE_VAL}}) == "");
  CHECK(refused(Dtype::kF8E4M3, LiteralValues{.floats = {500}}) ==
        "out: element 0 is 500, which f8e4m3 cannot hold");
  CHECK(refused(Dtype::kU8, LiteralValues{.ints = {256}}) ==
        "out: element 0 is 256, which u8 cannot hold");
  CHECK(refused(Dtype::kU32, LiteralValues{.ints = {-1}}) ==
        "out: element 0 is -1, which u32 cannot hold");
  const auto constant = [](double value) {
    return Fill{.generator = Fill::Generator::kConstant, .value = value};
  };
  CHECK(refused(Dtype::kI32, constant(2.5)) == "out: element 0 is 2.5, which i32 cannot hold");
  CHECK(refused(Dtype::kI32, constant(-7)) == "");
  CHECK(refused(Dtype::kI64, constant(0x1p63)) != "");
  CHECK(refused(Dtype::kI64, constant(-0x1p63)) == "");
  CHECK(refused(Dtype::kBF16, constant(1e39)) == "out: element 0 is 1e+39, which bf16 cannot hold");
}

TEST_CASE("elements from a file, bit for bit, through strides") {
  std::string bytes = "header..";
  for (const int pattern : {0x3C00, 0x7E01, 0xFBFF, 0x0001}) {
    bytes += static_cast<char>(pattern & 0xFF);
    bytes += static_cast<char>(pattern >> 8);
  }
  const TemporaryFile file(bytes);
  CaseBuilder builder;
  TensorSpec& q = builder.add(TensorName::kQ, Dtype::kF16, {2, 2},
                              FileValues{.path = file.path(), .begin_bytes = 8, .num_elements = 4});
  q.strides = {1, 2};
  const Inputs inputs = make_inputs(builder.get(), true);
  uint16_t patterns[4];
  std::memcpy(patterns, inputs.storages[static_cast<size_t>(q.storage)].begin(), 8);
  CHECK(patterns[0] == 0x3C00);
  CHECK(patterns[2] == 0x7E01);
  CHECK(patterns[1] == 0xFBFF);
  CHECK(patterns[3] == 0x0001);
}

TEST_CASE("a file that changed since it was loaded") {
  CaseBuilder builder;
  const std::string gone = "/no/such/file";
  builder.add(TensorName::kQ, Dtype::kF16, {4}, FileValues{gone, 0, 4});
  std::string message;
  CHECK(complaint(builder.get(), &message) == "FC-X002");
  CHECK(message == "/no/such/file: cannot be read any more: No such file or directory");

  const TemporaryFile file(std::string(13, 'x'));
  builder.add(TensorName::kQ, Dtype::kF16, {4}, FileValues{file.path(), 8, 4});
  CHECK(complaint(builder.get(), &message) == "FC-X003");
  CHECK(message == file.path() + ": q needs 8 bytes from byte 8 on, and only 5 are there");
  builder.add(TensorName::kQ, Dtype::kF16, {4}, FileValues{file.path(), 100, 4});
  CHECK(complaint(builder.get(), &message) == "FC-X003");
  CHECK(message == file.path() + ": q needs 8 bytes from byte 100 on, and only 0 are there");
}

TEST_CASE("a file of more than one block, also backwards") {
  const int64_t count = 600'000;
  std::string bytes(static_cast<size_t>(count) * 4, '\0');
  for (int64_t n = 0; n < count; ++n) {
    const float value = static_cast<float>(n);
    std::memcpy(bytes.data() + n * 4, &value, 4);
  }
  const TemporaryFile file(bytes);
  CaseBuilder builder;
  const TensorSpec& q =
      builder.add(TensorName::kQ, Dtype::kF32, {count}, FileValues{file.path(), 0, count});
  const std::vector<double> all = elements(make_inputs(builder.get(), true), q);
  bool equal = true;
  for (int64_t n = 0; n < count; ++n) {
    equal = equal && all[static_cast<size_t>(n)] == static_cast<double>(n);
  }
  CHECK(equal);
}

TEST_CASE("a storage that nobody can have") {
  CaseBuilder builder;
  builder.get().storages[0].elements = int64_t{1} << 60;
  std::string message;
  CHECK(complaint(builder.get(), &message) == "FC-X001");
  CHECK(message == "q: this machine does not give 2305843009213693952 bytes for the storage");
  builder.get().storages[0].elements = INT64_MAX;
  CHECK(complaint(builder.get(), &message) == "FC-X001");
  CHECK_FALSE(bytes_needed(builder.get(), 0).has_value());
}

TEST_CASE("the bytes that a run needs") {
  CaseBuilder builder;  // q, k, v of 16 f16 elements; 2 rows
  const int64_t run = 16 * 2 + 2 * 4 + 16 * 7 * 8 + 5 * 8 * 2 * 8;  // a head of 5 keys
  CHECK(bytes_needed(builder.get(), 5) == 3 * 32 + run);
  CHECK_FALSE(bytes_needed(builder.get(), INT64_MAX).has_value());
  builder.tensor(TensorName::kV).storage = builder.get().k().storage;
  builder.tensor(TensorName::kV).dtype = Dtype::kF32;  // the wider of two views decides
  CHECK(bytes_needed(builder.get(), 5) == 32 + 64 + run);
}

TEST_CASE("the rules are complete and in order") {
  std::string_view before;
  for (const Rule* rule : input_rules()) {
    CHECK(rule->code > before);
    before = rule->code;
    CHECK_FALSE(rule->why.empty());
    CHECK_FALSE(rule->fix.empty());
  }
}
