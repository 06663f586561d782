#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "src/exit_status.h"

namespace flashcheck {

enum class Format { kText, kJsonl, kJunit };
enum class ColorMode { kAuto, kAlways, kNever };

/// A report and where it goes; "-" is stdout.
struct OutputTarget {
  Format format = Format::kText;
  std::string path = "-";
};

/// Of `flashcheck run` and `flashcheck check`.
struct RunOptions {
  bool run_kernel = true;
  std::vector<std::string> paths;
  std::vector<std::string> filters;  // globs on case ids; none: every case
  bool list = false;                 // print the ids and run nothing
  std::vector<OutputTarget> outputs;
  bool verbose = false;
  ColorMode color = ColorMode::kAuto;
  int jobs = 1;
  int64_t max_memory_bytes = 0;
  int64_t max_work = 0;
  std::string device = "cpu";         // "cpu", "cuda", "cuda:1", or "auto"
  std::vector<std::string> required;  // devices that must be able to run
  bool allow_empty = false;
};

struct ExplainOptions {
  std::vector<std::string> subjects;  // codes, names or messages
};

struct RulesOptions {
  bool markdown = false;
};

/// Of `flashcheck map`.
struct MapOptions {
  std::vector<std::string> paths;
  std::vector<std::string> filters;
  bool all = false;  // however large
};

/// Of `flashcheck lint`.
struct LintOptions {
  std::vector<std::string> paths;
  std::vector<std::string> filters;
  bool together = false;  // all files as one suite
  bool strict = false;    // a blind spot is a failure
};

/// Of `flashcheck layouts`.
struct LayoutsOptions {
  std::vector<std::string> names;   // of layouts; none: all, in a table
  std::vector<std::string> tables;  // case files whose page tables are shown instead
};

/// What the command line asks for: exactly one of these, or text to print and a status to end with.
struct CommandLine {
  enum class Command {
    kRun,
    kMap,
    kLint,
    kLayouts,
    kBackends,
    kExplain,
    kRules,
    kPrint
  } command = Command::kPrint;
  RunOptions run;
  MapOptions map;
  LintOptions lint;
  LayoutsOptions layouts;
  ExplainOptions explain;
  RulesOptions rules;
  std::string text;
  ExitStatus status = ExitStatus::kOk;
};

/// Never throws for what a user types: wrong usage comes back as kPrint with status kUsage.
CommandLine parse_command_line(int argc, const char* const* argv);

}  // namespace flashcheck
