#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <variant>
#include <vector>

#include "src/spec/dtype.h"
#include "src/spec/finding.h"

namespace flashcheck {

/// What the header of a file says of one tensor. Its bytes are inside the file: as many as the
/// shape and the dtype need, row-major, little-endian.
struct ValueFileTensor {
  std::string name;            // the entry's; empty in a .npy file
  std::string stored_dtype;    // as the file spells it: "BF16", "<f2"
  std::optional<Dtype> dtype;  // nothing: one that no tensor of a case has, or that `only_if` names
  std::optional<Dtype> only_if;  // what the elements are if the case says so (numpy has no bf16)
  std::vector<int64_t> shape;
  int64_t begin_bytes = 0, num_elements = 0;
};

/// Why a file of values cannot be used.
struct ValueFileProblem {
  const Rule* rule = nullptr;
  std::string expected, got;
};

/// The tensors of the .safetensors and .npy files that the cases of one file name. Reads headers
/// alone, each once.
class ValueFiles {
 public:
  using Tensors = std::vector<ValueFileTensor>;
  using Found = std::variant<Tensors, ValueFileProblem>;

  /// All tensors of a file; of a .npy file one. Anything but a regular file is a problem.
  const Found& open(const std::string& path);

 private:
  std::unordered_map<std::string, Found> opened_;
};

}  // namespace flashcheck
