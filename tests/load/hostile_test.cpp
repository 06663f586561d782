#include <doctest/doctest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <string>
#include <vector>

#include "src/load/load.h"
#include "tests/load/complaint_lines.h"
#include "tests/load/scratch_directory.h"

namespace flashcheck {
namespace {

using Lines = std::vector<std::string>;

std::string repeated(std::string_view piece, size_t times) {
  std::string text;
  text.reserve(piece.size() * times);
  for (size_t i = 0; i < times; ++i) text += piece;
  return text;
}

int64_t peak_memory_bytes() {
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  return int64_t{usage.ru_maxrss} << 10;
}

TEST_CASE("a hundred megabytes of brackets end at the depth limit") {
  CHECK(complaints_of(std::string(100'000'000, '[')) ==
        Lines{"1: FC-C004: the document: expected at most 64 levels, got more"});
  CHECK(complaints_of(repeated("{\"a\":", 1'000'000)) ==
        Lines{"1: FC-C004: the document: expected at most 64 levels, got more"});
}

TEST_CASE("a document cannot exhaust memory with small values or many keys") {
  const int64_t before = peak_memory_bytes();
  CHECK(complaints_of("[" + repeated("0,", 10'000'000) + "0]") ==
        Lines{"1: FC-C005: the document: expected at most 4194304 values in a document, got more"});
  std::string keys = "{";
  for (int i = 0; i < 100'000; ++i) keys += "\"" + std::to_string(i) + "\":0,";
  CHECK(complaints_of(keys) ==
        Lines{"1: FC-C005: the document: expected at most 256 keys in an object, got more"});
  CHECK(peak_memory_bytes() - before < int64_t{1} << 30);
}

TEST_CASE("a million broken lines make 20 complaints and a number") {
  const std::string text = repeated("[]\n", 1'000'000);
  const LoadResult result = load_text(text, "l.jsonl", true);
  CHECK(result.cases.empty());
  REQUIRE(result.complaints.size() == 21);
  const Lines lines = lines_of(result.complaints);
  CHECK(lines[19] == "20: FC-C009: the document: expected an object, got an array of 0");
  CHECK(lines[20] == "20: FC-C031: the file: expected at most 20 complaints, got 999980 more");
}

TEST_CASE("what every test inherits from a broken control is told once") {
  std::string tests;
  for (int i = 0; i < 1000; ++i) {
    tests +=
        (i ? ", " : "") + std::string("{\"id\": \"t") + std::to_string(i) + "\", \"change\": {}}";
  }
  std::string text = document_with(R"("expect": {"verdict": "ok"})", "\"tests\": [" + tests + "]");
  text.replace(text.find("f16"), 3, "f17");
  CHECK(complaints_of(text) ==
        Lines{"7: FC-C013: /tensors/q/dtype: expected one of u8, u32, i16, i32, i64, bf16, f16, "
              "f32, f64, f8e4m3, got \"f17\"; the nearest is \"f16\"",
              "In the test \"t0\", line 15."});
}

TEST_CASE("only so many cases come out of a file") {
  std::string tests = "{\"id\": \"t0\", \"change\": {}}";
  for (int i = 1; i <= 1 << 18; ++i) {
    tests += ",{\"id\": \"t" + std::to_string(i) + "\", \"change\": {}}";
  }
  CHECK(complaints_of(
            document_with(R"("expect": {"verdict": "ok"})", "\"tests\": [" + tests + "]")) ==
        Lines{"15: FC-C005: /tests/262144: expected at most 262144 cases in a file, got more"});
}

TEST_CASE("a long key or string is shown in part") {
  const std::string key(1'000'000, 'k');
  const Lines lines =
      complaints_of(document_with("\"schema\": 1", "\"schema\": 1, \"" + key + "\": 1"));
  REQUIRE(lines.size() == 1);
  CHECK(lines[0] == "2: FC-C007: /" + key.substr(0, 80) +
                        "...: expected one of schema, id, note, refs, wrapper, function, storages, "
                        "tensors, args, expect, arithmetic, seed, tests, got \"" +
                        key.substr(0, 60) + "\"...; the nearest is \"schema\"");
}

TEST_CASE("a NUL does not end a document") {
  CHECK(complaints_of(document_with("", "") + std::string("\0 {", 3)) ==
        Lines{"17: FC-C003: the document: expected the end of the text, got \"\\u0000\""});
  CHECK(complaints_of(std::string(1000, '\0')) ==
        Lines{"1: FC-C003: the document: expected a JSON value, got \"\\u0000\\u0000\\u0000\\u0000"
              "\\u0000\\u0000\\u0000\\u0000\\u0000\\u0000\\u0000\\u0000\\u0000\\u0000\\u0000\\u0000"
              "\\u0000\\u0000\\u0000\\u0000\\u0000\\u0000\\u0000\\u0000\\u0000\\u0000\\u0000\\u0000"
              "\\u0000\\u0000\\u0000\\u0000\\u0000\\u0000\\u0000\\u0000\\u0000\\u0000\\u0000\\u0000"
              "\\u0000\\u0000\\u0000\\u0000\\u0000\\u0000\\u0000\\u0000\\u0000\\u0000\\u0000\\u0000"
              "\\u0000\\u0000\\u0000\\u0000\\u0000\\u0000\\u0000\\u0000\"..."});
}

TEST_CASE("an endless file, a directory, and a file that is not there are told so") {
  CHECK(lines_of(load_file("/dev/zero").complaints) ==
        Lines{"1: FC-C002: the file: expected a case file of at most 268435456 bytes, got more"});
  CHECK(lines_of(load_file("/dev/null").complaints) ==
        Lines{"1: FC-C003: the document: expected a JSON value, got the end of the text"});
  const ScratchDirectory scratch;
  std::filesystem::create_directory(scratch.path() / "x.json");
  CHECK(lines_of(load_file(scratch / "x.json").complaints) ==
        Lines{"1: FC-C001: the file: expected a readable file, got a directory"});
  CHECK(lines_of(load_file(scratch / "none.json").complaints) ==
        Lines{"1: FC-C001: the file: expected a readable file, got No such file or directory"});
}

TEST_CASE("a file of values is never a pipe or a device") {
  const ScratchDirectory scratch;
  REQUIRE(::mkfifo((scratch / "pipe.npy").c_str(), 0600) == 0);
  std::filesystem::create_symlink("/dev/zero", scratch.path() / "zero.npy");
  for (const char* name : {"pipe.npy", "zero.npy"}) {
    const std::string q = "\"dtype\": \"f16\", \"shape\": [4, 2, 64]";
    const std::string path =
        scratch.write("case.json", document_with(q, q + ", \"file\": \"" + name + "\""));
    CHECK(lines_of(load_file(path).complaints) ==
          Lines{"7: FC-C026: /tensors/q/file: expected a readable regular file, got \"" +
                (scratch / name) + "\", which is no regular file"});
  }
}

TEST_CASE("a pipe in a directory of cases is not opened") {
  const ScratchDirectory scratch;
  REQUIRE(::mkfifo((scratch / "a.json").c_str(), 0600) == 0);
  std::filesystem::create_symlink(scratch / "none", scratch.path() / "b.json");
  const CasePaths paths = expand_paths({scratch.path().string()});
  CHECK(lines_of(paths.complaints) ==
        Lines{"1: FC-C001: the path: expected a regular file, got a pipe, socket or device"});
  REQUIRE(paths.files == Lines{scratch / "b.json"});
  CHECK(lines_of(load_file(paths.files[0]).complaints) ==
        Lines{"1: FC-C001: the file: expected a readable file, got No such file or directory"});
}

TEST_CASE("a file without read permission is told so" * doctest::skip(::geteuid() == 0)) {
  const ScratchDirectory scratch;
  const std::string path = scratch.write("case.json", document_with("", ""));
  REQUIRE(::chmod(path.c_str(), 0) == 0);
  CHECK(lines_of(load_file(path).complaints) ==
        Lines{"1: FC-C001: the file: expected a readable file, got Permission denied"});
}

}  // namespace
}  // namespace flashcheck
