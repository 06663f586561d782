#pragma once

#include <cstdint>
#include <fstream>
#include <string>
#include <string_view>
#include <vector>

#include "src/spec/tensor_spec.h"

namespace flashcheck {

/// Reads the elements of a file as raw bytes, in blocks; fast where they are asked for in order.
class FileElements {
 public:
  /// `tensor_name` is for complaints. Throws InputError (FC-X002) if the file does not open.
  FileElements(const FileValues& values, int64_t element_bytes, std::string_view tensor_name);
  /// The bytes of element n, valid until the next call. Precondition: 0 <= n <
  /// values.num_elements. Throws InputError (FC-X003) if the file ends before it.
  const char* element(int64_t n);

 private:
  void read_block(int64_t first);

  const FileValues& values_;
  int64_t element_bytes_;
  std::string tensor_name_;
  std::ifstream file_;
  std::vector<char> block_;
  int64_t block_begin_ = 0, block_end_ = 0;  // elements in block_
};

}  // namespace flashcheck
