#include "src/inputs/file_values.h"

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstring>

#include "src/inputs/input_rules.h"
#include "src/inputs/inputs.h"

namespace flashcheck {

// Files are little-endian, and elements are copied as they are.
static_assert(std::endian::native == std::endian::little);

constexpr int64_t kBlockBytes = int64_t{1} << 20;

FileElements::FileElements(const FileValues& values, int64_t element_bytes,
                           std::string_view tensor_name)
    : values_(values),
      element_bytes_(element_bytes),
      tensor_name_(tensor_name),
      file_(values.path, std::ios::binary) {
  if (!file_) {
    throw InputError{make_finding(kFileUnreadable, "/tensors/" + tensor_name_ + "/file",
                                  {{"path", values.path}, {"reason", std::strerror(errno)}})};
  }
}

const char* FileElements::element(int64_t n) {
  if (n < block_begin_ || n >= block_end_) read_block(n);
  return block_.data() + (n - block_begin_) * element_bytes_;
}

void FileElements::read_block(int64_t first) {
  const int64_t count = std::min(kBlockBytes / element_bytes_, values_.num_elements - first);
  block_.resize(static_cast<size_t>(count * element_bytes_));
  file_.clear();
  file_.seekg(values_.begin_bytes + first * element_bytes_);
  file_.read(block_.data(), count * element_bytes_);
  if (file_.gcount() < count * element_bytes_) {
    const int64_t found = first * element_bytes_ + file_.gcount();
    throw InputError{
        make_finding(kFileTruncated, "/tensors/" + tensor_name_ + "/file",
                     {{"path", values_.path},
                      {"tensor", tensor_name_},
                      {"needed", std::to_string(values_.num_elements * element_bytes_)},
                      {"begin", std::to_string(values_.begin_bytes)},
                      {"found", std::to_string(found)}})};
  }
  block_begin_ = first;
  block_end_ = first + count;
}

}  // namespace flashcheck
