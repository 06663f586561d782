#include "src/load/value_file.h"

#include <filesystem>
#include <fstream>

#include "src/load/case_file_rules.h"
#include "src/load/json_value.h"
#include "src/load/npy.h"
#include "src/load/safetensors.h"

namespace flashcheck {
namespace {

ValueFileProblem unreadable(std::string got) {
  return {&complaint::kValueFileUnreadable, "a readable regular file", std::move(got)};
}

/// The first `size` bytes from where the file stands, or fewer if it ends or fails.
std::string read_bytes(std::ifstream& file, int64_t size) {
  std::string bytes(static_cast<size_t>(size), '\0');
  file.read(bytes.data(), size);
  bytes.resize(static_cast<size_t>(file.gcount()));
  return bytes;
}

ValueFiles::Found read_safetensors(std::ifstream& file, int64_t file_bytes) {
  std::string head = read_bytes(file, std::min<int64_t>(8, file_bytes));
  const auto length = safetensors_header_bytes(head, file_bytes);
  if (const auto* problem = std::get_if<ValueFileProblem>(&length)) return *problem;
  const int64_t header_bytes = std::get<int64_t>(length);
  head += read_bytes(file, header_bytes);
  if (static_cast<int64_t>(head.size()) != 8 + header_bytes) return unreadable("a read error");
  return parse_safetensors(head, file_bytes);
}

ValueFiles::Found read_file(const std::string& path) {
  std::error_code error;
  // Opening a pipe could wait for ever, so the kind is asked first.
  const auto status = std::filesystem::status(path, error);
  if (!std::filesystem::exists(status))
    return unreadable(in_quotes(path) + ", which does not exist");
  if (std::filesystem::is_directory(status)) return unreadable(in_quotes(path) + ", a directory");
  if (!std::filesystem::is_regular_file(status)) {
    return unreadable(in_quotes(path) + ", which is no regular file");
  }
  const auto size = std::filesystem::file_size(path, error);
  std::ifstream file(path, std::ios::binary);
  if (error || !file) return unreadable(in_quotes(path) + ", which cannot be read");
  const auto file_bytes = static_cast<int64_t>(size);
  if (path.ends_with(".safetensors")) return read_safetensors(file, file_bytes);
  return parse_npy(read_bytes(file, std::min(file_bytes, kMaxNpyHeadBytes)), file_bytes);
}

}  // namespace

const ValueFiles::Found& ValueFiles::open(const std::string& path) {
  // Enough for any set of dumps; a file that names thousands must not pile their headers up.
  constexpr size_t kMaxOpened = 64;
  const auto known = opened_.find(path);
  if (known != opened_.end()) return known->second;
  if (opened_.size() == kMaxOpened) opened_.clear();
  return opened_.emplace(path, read_file(path)).first->second;
}

}  // namespace flashcheck
