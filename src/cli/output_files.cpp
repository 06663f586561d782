#include "src/cli/output_files.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
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

OutputFiles::~OutputFiles() {
  for (const auto& file : files_) std::remove(file->temporary.c_str());
}

std::vector<std::unique_ptr<Reporter>> OutputFiles::open(const std::vector<OutputTarget>& targets,
                                                         const TextStyle& style) {
  std::vector<std::unique_ptr<Reporter>> reporters;
  for (const OutputTarget& target : targets) {
    if (target.path == "-") {
      reporters.push_back(make_reporter(target.format, std::cout, style));
      continue;
    }
    auto file = std::make_unique<File>();
    file->path = target.path;
    file->temporary = fmt::format("{}.{}.part", target.path, getpid());
    file->stream.open(file->temporary, std::ios::binary | std::ios::trunc);
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
    if (!file->stream || std::rename(file->temporary.c_str(), file->path.c_str()) != 0) {
      fail(file->path);
    }
  }
  files_.clear();
}

}  // namespace flashcheck
