#include "src/load/value_file.h"

#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "src/load/load.h"
#include "src/load/npy.h"
#include "src/load/safetensors.h"
#include "tests/load/complaint_lines.h"
#include "tests/load/scratch_directory.h"

namespace flashcheck {
namespace {

/// Eight bytes with the header's length, the header, zeros.
std::string safetensors(const std::string& header, size_t element_bytes) {
  std::string file;
  for (size_t i = 0; i < 8; ++i) file += static_cast<char>(header.size() >> (8 * i) & 0xFF);
  return file + header + std::string(element_bytes, '\0');
}

std::string npy(const std::string& header, size_t element_bytes, int major = 1) {
  std::string file = "\x93NUMPY";
  file += static_cast<char>(major);
  file += '\0';
  for (size_t i = 0; i < (major == 1 ? 2 : 4); ++i) {
    file += static_cast<char>(header.size() >> (8 * i) & 0xFF);
  }
  return file + header + std::string(element_bytes, '\0');
}

std::string npy_of(const std::string& descr, const std::string& shape, size_t element_bytes) {
  return npy("{'descr': '" + descr + "', 'fortran_order': False, 'shape': " + shape + ", }\n",
             element_bytes);
}

/// "name dtype [shape] begin+count", or what is wrong.
std::string told(const ValueFiles::Found& found) {
  if (const auto* problem = std::get_if<ValueFileProblem>(&found)) {
    return "expected " + problem->expected + ", got " + problem->got;
  }
  std::string text;
  for (const ValueFileTensor& tensor : std::get<ValueFiles::Tensors>(found)) {
    text += tensor.name + " " +
            (tensor.dtype ? std::string(name_of(*tensor.dtype)) : tensor.stored_dtype) + " [";
    for (int64_t dim : tensor.shape) text += std::to_string(dim) + ",";
    text +=
        "] " + std::to_string(tensor.begin_bytes) + "+" + std::to_string(tensor.num_elements) + ";";
  }
  return text;
}

std::string told_safetensors(const std::string& file) {
  return told(parse_safetensors(file, static_cast<int64_t>(file.size())));
}
std::string told_npy(const std::string& file) {
  return told(parse_npy(file, static_cast<int64_t>(file.size())));
}

TEST_CASE("a safetensors header is read in the order of the elements") {
  CHECK(told_safetensors(safetensors("{}", 0)) == "");
  CHECK(told_safetensors(safetensors("{\"__metadata__\":{\"format\":\"pt\"}}   ", 0)) == "");
  CHECK(told_safetensors(
            safetensors(R"({"b":{"dtype":"F16","shape":[2,3],"data_offsets":[4,16]},)"
                        R"("a":{"dtype":"U32","shape":[],"data_offsets":[0,4]},)"
                        R"("z":{"dtype":"F8_E4M3","shape":[0,5],"data_offsets":[16,16]}})",
                        16)) == "a u32 [] 178+1;b f16 [2,3,] 182+6;z f8e4m3 [0,5,] 194+0;");
  CHECK(told_safetensors(safetensors(R"({"a":{"dtype":"BOOL","shape":[3],"data_offsets":[0,3]}})",
                                     3)) == "a BOOL [3,] 63+3;");
}

TEST_CASE("a safetensors file that lies is told how") {
  const auto entry = [](const std::string& members, size_t bytes) {
    return told_safetensors(safetensors("{\"a\":{" + members + "}}", bytes));
  };
  CHECK(told_safetensors("") == "expected a header's length in the first 8 bytes, got 0 bytes");
  CHECK(told_safetensors("1234567") ==
        "expected a header's length in the first 8 bytes, got 7 bytes");
  CHECK(told_safetensors(std::string("\x10\0\0\0\0\0\0\0{}", 10)) ==
        "expected a header inside the file of 10 bytes, got one of 16 bytes from byte 8 on");
  CHECK(told_safetensors(std::string(8, '\xFF')) ==
        "expected a header of at most 100000000 bytes, got one of 18446744073709551615");
  CHECK(told_safetensors(safetensors("", 0)) ==
        "expected a JSON header with a JSON value at byte 8, got the end of the text");
  CHECK(told_safetensors(safetensors("{\"a\":}", 0)) ==
        "expected a JSON header with a value at byte 13, got \"}\"");
  CHECK(told_safetensors(safetensors("[]", 0)) ==
        "expected an object as the header, got another JSON value");
  CHECK(told_safetensors(safetensors(R"({"a":{"dtype":"U8","shape":[1],"data_offsets":[0,1]},)"
                                     R"("a":{"dtype":"U8","shape":[1],"data_offsets":[0,1]}})",
                                     1)) ==
        "expected a JSON header with each key once at byte 66, got \"a\" again");
  CHECK(entry(R"("dtype":"F16","shape":[2])", 4) ==
        "expected dtype, shape and two data_offsets in the header's entry \"a\", got none, or of "
        "another type");
  CHECK(entry(R"("dtype":"F16","shape":[-2],"data_offsets":[0,4])", 4) ==
        "expected whole numbers as the shape of \"a\", got something else");
  CHECK(entry(R"("dtype":"F16","shape":[2],"data_offsets":[4,0])", 4) ==
        "expected ascending whole numbers as the data_offsets of \"a\", got something else");
  CHECK(entry(R"("dtype":"F16","shape":[2],"data_offsets":[0,1.5])", 4) ==
        "expected ascending whole numbers as the data_offsets of \"a\", got something else");
  CHECK(entry(R"("dtype":"F16","shape":[3],"data_offsets":[0,4])", 4) ==
        "expected 6 bytes for \"a\" (F16 [3]), got data_offsets [0, 4]");
  CHECK(entry(R"("dtype":"F16","shape":[4611686018427387904,4],"data_offsets":[0,4])", 4) ==
        "expected more than 2^63 bytes for \"a\" (F16 [4611686018427387904, 4]), got data_offsets "
        "[0, 4]");
  CHECK(entry(R"("dtype":"F16","shape":[2],"data_offsets":[2,6])", 6) ==
        "expected \"a\" to begin at byte 0 of the elements, where the entry before it ends, got "
        "byte 2");
  CHECK(entry(R"("dtype":"F16","shape":[2],"data_offsets":[0,4])", 3) ==
        "expected entries that end with the file, at byte 3 of the elements, got byte 4");
  CHECK(entry(R"("dtype":"F16","shape":[2],"data_offsets":[0,4])", 5) ==
        "expected entries that end with the file, at byte 5 of the elements, got byte 4");
  CHECK(told_safetensors(safetensors(R"({"a":{"dtype":"U8","shape":[4],"data_offsets":[0,4]},)"
                                     R"("b":{"dtype":"U8","shape":[4],"data_offsets":[2,6]}})",
                                     6)) ==
        "expected \"b\" to begin at byte 4 of the elements, where the entry before it ends, got "
        "byte 2");
}

TEST_CASE("a npy header is read in all versions") {
  const std::string header = "{'descr': '<f2', 'fortran_order': False, 'shape': (2, 3), }";
  CHECK(told_npy(npy(header, 12)) == " f16 [2,3,] 69+6;");
  CHECK(told_npy(npy(header, 12, 2)) == " f16 [2,3,] 71+6;");
  CHECK(told_npy(npy(header, 12, 3)) == " f16 [2,3,] 71+6;");
  CHECK(told_npy(npy("{\"shape\":(),\"fortran_order\":True,\"descr\":\"<i8\"}", 8)) ==
        " i64 [] 57+1;");
  CHECK(told_npy(npy_of("<f4", "(0, 9223372036854775807)", 0)) ==
        " f32 [0,9223372036854775807,] 88+0;");
  CHECK(told_npy(npy_of("|u1", "(3,)", 3)) == " u8 [3,] 68+3;");
  CHECK(told_npy(npy_of("|V2", "(3,)", 6)) == " |V2 [3,] 68+3;");
  CHECK(told_npy(npy_of("<u2", "(3,)", 6)) == " <u2 [3,] 68+3;");
}

TEST_CASE("a npy file that lies, or is not plain, is told how") {
  const std::string plain =
      "a header {'descr': ..., 'fortran_order': ..., 'shape': (...)} of a plain array";
  CHECK(told_npy("") == "expected a file that begins with \\x93NUMPY and a version, got \"\"");
  CHECK(told_npy("PK\x03\x04 a zip") ==
        "expected a file that begins with \\x93NUMPY and a version, got \"PK\\u0003\\u0004 a\"");
  CHECK(told_npy(npy("", 0, 4)) == "expected format version 1.0, 2.0 or 3.0, got 4.0");
  CHECK(told_npy(std::string("\x93NUMPY\x01\x00", 8)) ==
        "expected a header's length, got 8 bytes in all");
  CHECK(told_npy(std::string("\x93NUMPY\x01\x00\x40\x00{}", 12)) ==
        "expected a header inside the file of 12 bytes, got one of 64 bytes from byte 10 on");
  CHECK(told_npy(std::string("\x93NUMPY\x02\x00\xFF\xFF\xFF\xFF", 12)) ==
        "expected a header of at most 65535 bytes, got one of 4294967295");
  CHECK(told_npy(npy("{}", 0)) == "expected " + plain + ", got \"\"");
  CHECK(told_npy(npy("{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (1,)}", 4)) ==
        "expected " + plain + ", got \"[('a', '<f4')], 'fortran_order': False, 'shape': (1,)}\"");
  CHECK(told_npy(npy("{'descr': '<f4', 'fortran_order': False, 'shape': (-1,)}", 4)) ==
        "expected " + plain + ", got \"-1,)}\"");
  CHECK(
      told_npy(npy("{'descr': '<f4', 'descr': '<f4', 'fortran_order': False, 'shape': (1,)}", 4)) ==
      "expected " + plain + ", got \" '<f4', 'fortran_order': False, 'shape': (1,)}\"");
  CHECK(told_npy(npy("{'descr': '<f4', 'fortran_order': False, 'shape': (1,)} 7", 4)) ==
        "expected " + plain + ", got \"7\"");
  CHECK(told_npy(npy("{'descr': '<f4', 'fortran_order': True, 'shape': (2, 2)}", 16)) ==
        "expected C order, got fortran_order True");
  CHECK(told_npy(npy_of(">f4", "(1,)", 4)) ==
        "expected one of the dtypes <f2, <f4, <f8, <i2, <i4, <i8, |u1, <u2, <u4, |V1, |V2, got "
        "\">f4\"");
  CHECK(told_npy(npy_of("|f4", "(1,)", 4)).starts_with("expected one of the dtypes"));
  CHECK(told_npy(npy_of("<c8", "(1,)", 8)).starts_with("expected one of the dtypes"));
  CHECK(told_npy(npy_of("", "(1,)", 8)).starts_with("expected one of the dtypes"));
  CHECK(told_npy(npy_of("<f4", "(3,)", 8)) ==
        "expected 12 bytes of elements (<f4 of shape [3]), got 8");
  CHECK(told_npy(npy_of("<f4", "(1,)", 8)) ==
        "expected 4 bytes of elements (<f4 of shape [1]), got 8");
  CHECK(told_npy(npy_of("<f4", "(4611686018427387904, 4)", 8)) ==
        "expected more than 2^63 bytes of elements (<f4 of shape [4611686018427387904, 4]), got 8");
  CHECK(told_npy(npy_of("<f4", "(9223372036854775808,)", 8)) ==
        "expected " + plain + ", got \"9223372036854775808,), }\\n\"");
}

/// A question whose q comes from a file: members of q.
std::string question(const std::string& q) {
  return R"({"schema": 1, "wrapper": "none", "function": "flash_attn", "tensors": {"q": {)" + q +
         R"(}, "k": {"dtype": "f16", "shape": []}, "v": {"dtype": "f16", "shape": []}},
             "args": {"softmax_scale": 1, "causal": true}})";
}

TEST_CASE("a tensor takes dtype and shape from its file, relative to the case") {
  const ScratchDirectory scratch;
  scratch.write("d/x.safetensors",
                safetensors(R"({"a":{"dtype":"U8","shape":[1],"data_offsets":[0,1]},)"
                            R"("b":{"dtype":"BF16","shape":[2,3],"data_offsets":[1,13]}})",
                            13));
  const std::string path = scratch.write(
      "case.json", question(R"("file": "d/x.safetensors", "tensor": "b", "strides": [1, 2])"));
  const LoadResult result = load_file(path);
  REQUIRE(lines_of(result.complaints) == std::vector<std::string>{});
  const TensorSpec& q = result.cases[0].q();
  CHECK(q.dtype == Dtype::kBF16);
  CHECK(q.shape == std::vector<int64_t>{2, 3});
  CHECK(q.strides == std::vector<int64_t>{1, 2});
  const auto& file = std::get<FileValues>(*q.values);
  CHECK(file.path == scratch / "d/x.safetensors");
  CHECK(file.begin_bytes == 8 + 110 + 1);
  CHECK(file.num_elements == 6);

  const std::string absolute = scratch.write(
      "e/case.json",
      question("\"file\": \"" + (scratch / "d/x.safetensors") + "\", \"tensor\": \"b\""));
  CHECK(lines_of(load_file(absolute).complaints) == std::vector<std::string>{});
}

TEST_CASE("numpy's untyped elements are what the case says") {
  const ScratchDirectory scratch;
  scratch.write("v2.npy", npy_of("|V2", "(2,)", 4));
  scratch.write("u1.npy", npy_of("|u1", "(2,)", 2));
  const auto complaints = [&](const std::string& q) {
    return lines_of(load_file(scratch.write("case.json", question(q))).complaints);
  };
  CHECK(complaints(R"("file": "v2.npy", "dtype": "bf16")").empty());
  CHECK(complaints(R"("file": "u1.npy", "dtype": "f8e4m3")").empty());
  CHECK(complaints(R"("file": "u1.npy", "shape": [2])").empty());
  CHECK(complaints(R"("file": "v2.npy")") ==
        std::vector<std::string>{"1: FC-C029: /tensors/q/dtype: expected the dtype bf16, said by "
                                 "the case, got the file's |V2"});
  CHECK(complaints(R"("file": "v2.npy", "dtype": "f16")") ==
        std::vector<std::string>{"1: FC-C029: /tensors/q/dtype: expected the file's dtype, |V2, "
                                 "got \"f16\""});
}

TEST_CASE("a case and its file must agree") {
  const ScratchDirectory scratch;
  scratch.write("x.safetensors",
                safetensors(R"({"a":{"dtype":"F16","shape":[2],"data_offsets":[0,4]},)"
                            R"("b":{"dtype":"BOOL","shape":[2],"data_offsets":[4,6]}})",
                            6));
  scratch.write("x.npy", npy_of("<f4", "(2,)", 8));
  scratch.write("torn.safetensors", "torn");
  scratch.write("torn.npy", "torn");
  std::filesystem::create_directory(scratch.path() / "dir.npy");
  const auto complaints = [&](const std::string& q) {
    return lines_of(load_file(scratch.write("case.json", question(q))).complaints);
  };
  using Lines = std::vector<std::string>;
  const std::string x = R"("file": "x.safetensors", "tensor": )";
  CHECK(complaints(x + R"("a", "dtype": "bf16")") ==
        Lines{"1: FC-C029: /tensors/q/dtype: expected the file's dtype, F16, got \"bf16\""});
  CHECK(complaints(x + R"("a", "shape": [2, 1])") ==
        Lines{"1: FC-C029: /tensors/q/shape: expected the file's shape, [2], got [2, 1]"});
  CHECK(complaints(x + R"("c")") ==
        Lines{"1: FC-C029: /tensors/q/tensor: expected one of the entries a, b, got \"c\""});
  CHECK(complaints(x + R"("b")") ==
        Lines{"1: FC-C029: /tensors/q/dtype: expected elements of a dtype that a case can name, "
              "got the file's BOOL"});
  CHECK(complaints(R"("file": "x.safetensors")") ==
        Lines{"1: FC-C008: /tensors/q: expected the key \"tensor\", got an object without it"});
  CHECK(complaints(R"("file": "x.npy", "tensor": "a")") ==
        Lines{"1: FC-C022: /tensors/q/tensor: expected no `tensor` with a .npy file, which has "
              "one, got \"a\""});
  CHECK(complaints(R"("file": "x.bin")") ==
        Lines{"1: FC-C010: /tensors/q/file: expected the path of a .safetensors or .npy file, got "
              "\"x.bin\""});
  CHECK(complaints(R"("file": "x\u0000.npy")") ==
        Lines{"1: FC-C010: /tensors/q/file: expected the path of a .safetensors or .npy file, got "
              "\"x\\u0000.npy\""});
  const auto unreadable = [&](const std::string& name, const std::string& why) {
    return Lines{"1: FC-C026: /tensors/q/file: expected a readable regular file, got \"" +
                 (scratch / name) + "\"" + why};
  };
  CHECK(complaints(R"("file": "none.npy")") == unreadable("none.npy", ", which does not exist"));
  CHECK(complaints(R"("file": "dir.npy")") == unreadable("dir.npy", ", a directory"));
  CHECK(complaints(R"("file": "torn.safetensors", "tensor": "a")") ==
        Lines{"1: FC-C027: /tensors/q/file: expected a header's length in the first 8 bytes, got "
              "4 bytes"});
  CHECK(complaints(R"("file": "torn.npy")") ==
        Lines{"1: FC-C028: /tensors/q/file: expected a file that begins with \\x93NUMPY and a "
              "version, got \"torn\""});
}

}  // namespace
}  // namespace flashcheck
