#include "src/load/case_text.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace flashcheck {
namespace {

/// Closes a file that was opened here; stdin is not ours.
class OpenFile {
 public:
  explicit OpenFile(const std::string& path)
      : is_ours_(path != "-"),
        descriptor_(is_ours_ ? ::open(path.c_str(), O_RDONLY | O_CLOEXEC) : STDIN_FILENO) {}
  ~OpenFile() {
    if (is_ours_ && descriptor_ >= 0) ::close(descriptor_);
  }
  OpenFile(const OpenFile&) = delete;
  OpenFile& operator=(const OpenFile&) = delete;
  int descriptor() const { return descriptor_; }

 private:
  bool is_ours_;
  int descriptor_;
};

std::string reason() { return std::strerror(errno); }

}  // namespace

std::variant<std::string, CaseTextProblem> read_case_text(const std::string& path) {
  const OpenFile file(path);
  if (file.descriptor() < 0) return CaseTextProblem{.got = reason()};
  struct stat status {};
  if (::fstat(file.descriptor(), &status) != 0) return CaseTextProblem{.got = reason()};
  if (S_ISDIR(status.st_mode)) return CaseTextProblem{.got = "a directory"};
  if (status.st_size > kMaxCaseFileBytes) {
    return CaseTextProblem{true, std::to_string(status.st_size) + " bytes"};
  }

  std::string text;
  // The size is a hint: pipes and devices have none.
  constexpr size_t kChunkBytes = size_t{1} << 16;
  size_t size = 0;
  text.resize(std::max(static_cast<size_t>(status.st_size) + 1, kChunkBytes));
  while (true) {
    const ssize_t got = ::read(file.descriptor(), text.data() + size, text.size() - size);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return CaseTextProblem{.got = reason()};
    if (got == 0) break;
    size += static_cast<size_t>(got);
    if (size > static_cast<size_t>(kMaxCaseFileBytes)) return CaseTextProblem{true, "more"};
    if (size == text.size())
      text.resize(std::min(2 * size, static_cast<size_t>(kMaxCaseFileBytes) + 1));
  }
  text.resize(size);
  return text;
}

}  // namespace flashcheck
