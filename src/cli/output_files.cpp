#include "src/cli/output_files.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <iostream>

namespace flashcheck {
namespace {

[[noreturn]] void fail(const std::string& path) {
  throw OutputError(fmt::format("{}: cannot be written: {}", path, std::strerror(errno)));
}

std::unique_ptr<Reporter> make_reporter(Format format, std::ostream& out, const TextStyle& style) {
  switch (format) {
    case Format::kText:
      return make_text_reporter(out, style);
    case Format::kJsonl:
      return make_jsonl_reporter(out);
    case Format::kJunit:
      return make_junit_reporter(out);
  }
  return nullptr;
}

}  // namespace

OutputFiles::File OutputFiles::place(const std::string& path) {
  namespace fs = std::filesystem;
  std::error_code ignored;
  const fs::file_status status = fs::status(path, ignored);
  // A device or a pipe is written to, never replaced; a link stays, and its file is replaced.
  if (fs::exists(status) && !fs::is_regular_file(status)) {
    return {.path = path, .written = path, .is_renamed = false};
  }
  const fs::path target = fs::exists(status) ? fs::canonical(path, ignored) : fs::path(path);
  return {.path = target.string(), .written = fmt::format("{}.{}.part", target.string(), getpid())};
}

OutputFiles::~OutputFiles() {
  for (const auto& file : files_) {
    if (file->is_renamed) std::remove(file->written.c_str());
  }
}

std::vector<std::unique_ptr<Reporter>> OutputFiles::open(const std::vector<OutputTarget>& targets,
                                                         const TextStyle& style) {
  std::vector<std::unique_ptr<Reporter>> reporters;
  for (const OutputTarget& target : targets) {
    if (target.path == "-") {
      reporters.push_back(make_reporter(target.format, std::cout, style));
      continue;
    }
    auto file = std::make_unique<File>(place(target.path));
    file->stream.open(file->written, std::ios::binary | std::ios::trunc);
    if (!file->stream) fail(target.path);
    TextStyle plain = style;
    plain.color = false;
    reporters.push_back(make_reporter(target.format, file->stream, plain));
    files_.push_back(std::move(file));
  }
  return reporters;
}

void OutputFiles::close() {
  for (const auto& file : files_) {
    file->stream.close();
    if (!file->stream) fail(file->path);
    if (file->is_renamed && std::rename(file->written.c_str(), file->path.c_str()) != 0) {
      fail(file->path);
    }
  }
  files_.clear();
}

}  // namespace flashcheck
