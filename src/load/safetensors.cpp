#include "src/load/safetensors.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <memory_resource>
#include <string>

#include "src/load/case_file_rules.h"
#include "src/load/json_document.h"
#include "src/spec/checked.h"

namespace flashcheck {
namespace {

constexpr int64_t kLengthBytes = 8;

struct StoredDtype {
  std::string_view name;
  Dtype dtype;
};
constexpr std::array<StoredDtype, 10> kStoredDtypes{{{"F16", Dtype::kF16},
                                                     {"BF16", Dtype::kBF16},
                                                     {"F32", Dtype::kF32},
                                                     {"F64", Dtype::kF64},
                                                     {"F8_E4M3", Dtype::kF8E4M3},
                                                     {"I16", Dtype::kI16},
                                                     {"I32", Dtype::kI32},
                                                     {"I64", Dtype::kI64},
                                                     {"U8", Dtype::kU8},
                                                     {"U32", Dtype::kU32}}};

ValueFileProblem broken(std::string expected, std::string got) {
  return {&complaint::kBrokenSafetensors, std::move(expected), std::move(got)};
}

std::optional<int64_t> size_of(const JsonValue& value) {
  if (value.kind != JsonValue::Kind::kInteger || value.integer < 0) return std::nullopt;
  return value.integer;
}

/// An entry and where its elements end, in bytes from the first entry's.
struct Entry {
  ValueFileTensor tensor;
  int64_t end_bytes = 0;
};

/// Reads {"dtype", "shape", "data_offsets"}, and holds the number of bytes against the shape.
std::variant<Entry, ValueFileProblem> read_entry(const JsonValue& value) {
  const std::string name = in_quotes(value.key);
  const JsonValue* dtype = value.find("dtype");
  const JsonValue* shape = value.find("shape");
  const JsonValue* offsets = value.find("data_offsets");
  if (!dtype || !dtype->is_string() || !shape || !shape->is_array() || !offsets ||
      !offsets->is_array() || offsets->children.size() != 2) {
    return broken(fmt::format("dtype, shape and two data_offsets in the header's entry {}", name),
                  "none, or of another type");
  }
  Entry entry{.tensor = {.name = std::string(value.key), .stored_dtype = std::string(dtype->text)}};
  entry.tensor.num_elements = 1;
  bool fits = true;
  for (const JsonValue* dim : shape->children) {
    const std::optional<int64_t> size = size_of(*dim);
    if (!size)
      return broken(fmt::format("whole numbers as the shape of {}", name), "something else");
    entry.tensor.shape.push_back(*size);
    const std::optional<int64_t> product =
        fits ? checked_mul(entry.tensor.num_elements, *size) : std::nullopt;
    fits = product.has_value();
    if (fits) entry.tensor.num_elements = *product;
  }
  const std::optional<int64_t> begin = size_of(*offsets->children[0]);
  const std::optional<int64_t> end = size_of(*offsets->children[1]);
  if (!begin || !end || *end < *begin) {
    return broken(fmt::format("ascending whole numbers as the data_offsets of {}", name),
                  "something else");
  }
  entry.tensor.begin_bytes = *begin;
  entry.end_bytes = *end;

  const auto known =
      std::find_if(kStoredDtypes.begin(), kStoredDtypes.end(),
                   [&](const StoredDtype& stored) { return stored.name == dtype->text; });
  if (known == kStoredDtypes.end()) return entry;
  entry.tensor.dtype = known->dtype;
  const std::optional<int64_t> needed =
      fits ? checked_mul(entry.tensor.num_elements, size_in_bytes(known->dtype)) : std::nullopt;
  if (needed != *end - *begin) {
    return broken(fmt::format("{} bytes for {} ({} [{}])",
                              needed ? std::to_string(*needed) : "more than 2^63", name,
                              known->name, fmt::join(entry.tensor.shape, ", ")),
                  fmt::format("data_offsets [{}, {}]", *begin, *end));
  }
  return entry;
}

}  // namespace

std::variant<int64_t, ValueFileProblem> safetensors_header_bytes(std::string_view head,
                                                                 int64_t file_bytes) {
  if (file_bytes < kLengthBytes || head.size() < static_cast<size_t>(kLengthBytes)) {
    return broken("a header's length in the first 8 bytes", fmt::format("{} bytes", file_bytes));
  }
  uint64_t length = 0;
  for (size_t i = kLengthBytes; i-- > 0;) length = length << 8 | static_cast<uint8_t>(head[i]);
  if (length > static_cast<uint64_t>(kMaxSafetensorsHeaderBytes)) {
    return broken(fmt::format("a header of at most {} bytes", kMaxSafetensorsHeaderBytes),
                  fmt::format("one of {}", length));
  }
  if (static_cast<int64_t>(length) > file_bytes - kLengthBytes) {
    return broken(fmt::format("a header inside the file of {} bytes", file_bytes),
                  fmt::format("one of {} bytes from byte 8 on", length));
  }
  return static_cast<int64_t>(length);
}

ValueFiles::Found parse_safetensors(std::string_view head, int64_t file_bytes) {
  const auto length = safetensors_header_bytes(head, file_bytes);
  if (const auto* problem = std::get_if<ValueFileProblem>(&length)) return *problem;
  const int64_t header_bytes = std::get<int64_t>(length);
  const int64_t elements_bytes = file_bytes - kLengthBytes - header_bytes;
  const std::string_view header =
      head.substr(static_cast<size_t>(kLengthBytes), static_cast<size_t>(header_bytes));

  constexpr JsonLimits kLimits{.max_depth = 4, .max_keys = size_t{1} << 20};
  std::pmr::monotonic_buffer_resource arena;
  std::vector<JsonProblem> problems;
  const JsonValue* root = parse_json(header, kLimits, arena, problems);
  if (!problems.empty()) {
    return broken(fmt::format("a JSON header with {} at byte {}", problems[0].expected,
                              kLengthBytes + static_cast<int64_t>(problems[0].at)),
                  problems[0].got);
  }
  if (!root->is_object()) return broken("an object as the header", "another JSON value");

  std::vector<Entry> entries;
  for (const JsonValue* member : root->children) {
    if (member->key == "__metadata__") continue;
    auto entry = read_entry(*member);
    if (const auto* problem = std::get_if<ValueFileProblem>(&entry)) return *problem;
    entries.push_back(std::move(std::get<Entry>(entry)));
  }
  std::sort(entries.begin(), entries.end(), [](const Entry& a, const Entry& b) {
    return std::pair(a.tensor.begin_bytes, a.end_bytes) <
           std::pair(b.tensor.begin_bytes, b.end_bytes);
  });

  ValueFiles::Tensors tensors;
  int64_t covered = 0;
  for (Entry& entry : entries) {
    if (entry.tensor.begin_bytes != covered) {
      return broken(fmt::format("{} to begin at byte {} of the elements, where the entry before it "
                                "ends",
                                in_quotes(entry.tensor.name), covered),
                    fmt::format("byte {}", entry.tensor.begin_bytes));
    }
    covered = entry.end_bytes;
    entry.tensor.begin_bytes += kLengthBytes + header_bytes;
    tensors.push_back(std::move(entry.tensor));
  }
  if (covered != elements_bytes) {
    return broken(
        fmt::format("entries that end with the file, at byte {} of the elements", elements_bytes),
        fmt::format("byte {}", covered));
  }
  return tensors;
}

}  // namespace flashcheck
