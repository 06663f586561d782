#include "src/load/npy.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>
#include <string>

#include "src/load/case_file_rules.h"
#include "src/load/json_value.h"
#include "src/spec/checked.h"

namespace flashcheck {
namespace {

constexpr std::string_view kMagic = "\x93NUMPY";

struct StoredDtype {
  std::string_view name;  // without the byte order
  int64_t size_bytes;
  std::optional<Dtype> dtype, only_if;
};
constexpr std::array<StoredDtype, 11> kStoredDtypes{{
    {"f2", 2, Dtype::kF16, {}},
    {"f4", 4, Dtype::kF32, {}},
    {"f8", 8, Dtype::kF64, {}},
    {"i2", 2, Dtype::kI16, {}},
    {"i4", 4, Dtype::kI32, {}},
    {"i8", 8, Dtype::kI64, {}},
    {"u1", 1, Dtype::kU8, Dtype::kF8E4M3},
    {"u2", 2, {}, Dtype::kBF16},
    {"u4", 4, Dtype::kU32, {}},
    {"V1", 1, {}, Dtype::kF8E4M3},
    {"V2", 2, {}, Dtype::kBF16},
}};

ValueFileProblem broken(std::string expected, std::string got) {
  return {&complaint::kBrokenNpy, std::move(expected), std::move(got)};
}

/// Reads the dictionary {'descr': '<f2', 'fortran_order': False, 'shape': (4, 2), } that numpy
/// writes: these three keys, in any order, in Python's spelling.
class HeaderParser {
 public:
  explicit HeaderParser(std::string_view text) : text_(text) {}

  std::optional<std::string> descr;
  std::optional<bool> fortran_order;
  std::optional<std::vector<int64_t>> shape;

  /// Whether the text is such a dictionary; otherwise `at` is where it stops being one.
  bool parse() {
    if (!take("{")) return false;
    while (!take("}")) {
      const std::optional<std::string> key = parse_string();
      if (!key || !take(":") || !parse_value(*key)) return false;
      if (!take(",") && !is_next('}')) return false;
    }
    skip_whitespace();
    return at == text_.size() && descr && fortran_order && shape;
  }

  size_t at = 0;

 private:
  void skip_whitespace() {
    while (at < text_.size() && (text_[at] == ' ' || text_[at] == '\n')) ++at;
  }
  bool is_next(char c) {
    skip_whitespace();
    return at < text_.size() && text_[at] == c;
  }
  bool take(std::string_view token) {
    skip_whitespace();
    if (!text_.substr(at).starts_with(token)) return false;
    at += token.size();
    return true;
  }

  std::optional<std::string> parse_string() {
    skip_whitespace();
    if (at >= text_.size() || (text_[at] != '\'' && text_[at] != '"')) return std::nullopt;
    const size_t close = text_.find(text_[at], at + 1);
    if (close == std::string_view::npos) return std::nullopt;
    std::string parsed(text_.substr(at + 1, close - at - 1));
    at = close + 1;
    return parsed;
  }

  bool parse_value(const std::string& key) {
    if (key == "descr" && !descr) return (descr = parse_string()).has_value();
    if (key == "fortran_order" && !fortran_order) {
      if (take("True")) fortran_order = true;
      if (take("False")) fortran_order = false;
      return fortran_order.has_value();
    }
    return key == "shape" && !shape && parse_shape();
  }

  bool parse_shape() {
    if (!take("(")) return false;
    std::vector<int64_t> dims;
    while (!take(")")) {
      skip_whitespace();
      int64_t dim = 0;
      const char* begin = text_.data() + at;
      const auto [end, error] = std::from_chars(begin, text_.data() + text_.size(), dim);
      if (error != std::errc{} || dim < 0 || *begin == '-') return false;
      at += static_cast<size_t>(end - begin);
      dims.push_back(dim);
      if (!take(",") && !is_next(')')) return false;
    }
    shape = std::move(dims);
    return true;
  }

  std::string_view text_;
};

}  // namespace

ValueFiles::Found parse_npy(std::string_view head, int64_t file_bytes) {
  const auto byte = [&](size_t i) { return static_cast<uint8_t>(head[i]); };
  constexpr size_t kVersionBytes = 2;
  if (!head.starts_with(kMagic) || head.size() < kMagic.size() + kVersionBytes) {
    return broken("a file that begins with \\x93NUMPY and a version",
                  in_quotes(head.substr(0, kMagic.size())));
  }
  const int major = byte(6), minor = byte(7);
  if (major < 1 || major > 3 || minor != 0) {
    return broken("format version 1.0, 2.0 or 3.0", fmt::format("{}.{}", major, minor));
  }
  const size_t length_bytes = major == 1 ? 2 : 4;
  const size_t header_begin = kMagic.size() + kVersionBytes + length_bytes;
  if (head.size() < header_begin) {
    return broken("a header's length", fmt::format("{} bytes in all", file_bytes));
  }
  int64_t header_bytes = 0;
  for (size_t i = length_bytes; i-- > 0;)
    header_bytes = header_bytes << 8 | byte(header_begin - length_bytes + i);
  if (header_bytes > kMaxNpyHeaderBytes) {
    return broken(fmt::format("a header of at most {} bytes", kMaxNpyHeaderBytes),
                  fmt::format("one of {}", header_bytes));
  }
  if (header_bytes > static_cast<int64_t>(head.size() - header_begin)) {
    return broken(fmt::format("a header inside the file of {} bytes", file_bytes),
                  fmt::format("one of {} bytes from byte {} on", header_bytes, header_begin));
  }

  const std::string_view text = head.substr(header_begin, static_cast<size_t>(header_bytes));
  HeaderParser header(text);
  if (!header.parse()) {
    return broken("a header {'descr': ..., 'fortran_order': ..., 'shape': (...)} of a plain array",
                  in_quotes(text.substr(std::min(header.at, text.size()))));
  }
  if (*header.fortran_order && header.shape->size() > 1) {
    return broken("C order", "fortran_order True");
  }

  const std::string& descr = *header.descr;
  const auto known =
      std::find_if(kStoredDtypes.begin(), kStoredDtypes.end(), [&](const auto& stored) {
        return !descr.empty() && descr.substr(1) == stored.name &&
               (descr[0] == '<' ||
                (descr[0] == '|' && (stored.size_bytes == 1 || stored.name[0] == 'V')));
      });
  if (known == kStoredDtypes.end()) {
    return broken("one of the dtypes <f2, <f4, <f8, <i2, <i4, <i8, |u1, <u2, <u4, |V1, |V2",
                  in_quotes(descr));
  }
  ValueFileTensor tensor{.stored_dtype = descr,
                         .dtype = known->dtype,
                         .only_if = known->only_if,
                         .shape = *header.shape,
                         .begin_bytes = static_cast<int64_t>(header_begin) + header_bytes,
                         .num_elements = 1};
  std::optional<int64_t> needed = known->size_bytes;
  for (int64_t dim : tensor.shape) {
    if (needed) needed = checked_mul(*needed, dim);
  }
  if (std::count(tensor.shape.begin(), tensor.shape.end(), 0) > 0) needed = 0;
  const int64_t there = file_bytes - tensor.begin_bytes;
  if (needed != there) {
    return broken(fmt::format("{} bytes of elements ({} of shape [{}])",
                              needed ? std::to_string(*needed) : "more than 2^63", descr,
                              fmt::join(tensor.shape, ", ")),
                  fmt::format("{}", there));
  }
  tensor.num_elements = *needed / known->size_bytes;
  return ValueFiles::Tensors{std::move(tensor)};
}

}  // namespace flashcheck
