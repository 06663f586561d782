#pragma once

#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "src/load/complaints.h"
#include "src/load/json_value.h"
#include "src/load/value_file.h"
#include "src/spec/tensor_spec.h"

namespace flashcheck {

/// Reads where a tensor's elements come from. What several tests of a document share is read once.
class ValuesReader {
 public:
  /// `directory` is what `file` entries are relative to; "" is the working directory.
  ValuesReader(std::string directory, Complaints& complaints)
      : directory_(std::move(directory)), complaints_(complaints) {}

  /// Forgets the literals of the last document.
  void begin_document() {
    literals_.clear();
    nested_.clear();
  }

  /// `values`: nested as the shape or flat, exactly as many as it holds. Null after a complaint.
  std::shared_ptr<const Values> read_literal(const JsonValue& values, Dtype dtype,
                                             const std::vector<int64_t>& shape);
  std::optional<Fill> read_fill(const JsonValue& fill);
  /// The tensor that `file` and, in a .safetensors file, `tensor` name; and its path.
  std::optional<std::pair<std::string, ValueFileTensor>> read_file(const JsonValue& file,
                                                                   const JsonValue& tensor_object);

 private:
  bool is_nested_as(const JsonValue& values, const std::vector<int64_t>& shape);
  bool is_flat_as(const JsonValue& values, const std::vector<int64_t>& shape);
  /// The elements in the dtype; null after complaints about some.
  std::shared_ptr<const Values> convert(std::span<const JsonValue* const> leaves, Dtype dtype);

  std::string directory_;
  Complaints& complaints_;
  ValueFiles files_;
  // What was read of an array: for a dtype, with its elements so deep in it; null after complaints.
  std::map<std::tuple<const JsonValue*, Dtype, size_t>, std::shared_ptr<const Values>> literals_;
  // Whether an array is nested as a shape is.
  std::map<std::pair<const JsonValue*, std::vector<int64_t>>, bool> nested_;
};

}  // namespace flashcheck
