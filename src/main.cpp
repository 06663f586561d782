#include <exception>
#include <iostream>

#include "src/cli/commands.h"
#include "src/cli/options.h"

namespace flashcheck {
namespace {

ExitStatus run(const CommandLine& line) {
  switch (line.command) {
    case CommandLine::Command::kRun:
      return run_command(line.run);
    case CommandLine::Command::kMap:
      return map_command(line.map);
    case CommandLine::Command::kLint:
      return lint_command(line.lint);
    case CommandLine::Command::kLayouts:
      return layouts_command(line.layouts);
    case CommandLine::Command::kBackends:
      return backends_command();
    case CommandLine::Command::kExplain:
      return explain_command(line.explain);
    case CommandLine::Command::kRules:
      return rules_command(line.rules);
    case CommandLine::Command::kPrint:
      break;
  }
  (line.status == ExitStatus::kOk ? std::cout : std::cerr) << line.text;
  return line.status;
}

}  // namespace
}  // namespace flashcheck

int main(int argc, char** argv) {
  using flashcheck::ExitStatus;
  std::ios::sync_with_stdio(false);
  ExitStatus status = ExitStatus::kInternalFault;
  try {
    status = flashcheck::run(flashcheck::parse_command_line(argc, argv));
    std::cout.flush();
    if (!std::cout) {
      std::cerr << "flashcheck: stdout cannot be written\n";
      status = ExitStatus::kInternalFault;
    }
  } catch (const std::exception& error) {
    std::cout.flush();
    std::cerr << "flashcheck: " << error.what() << '\n';
  }
  return static_cast<int>(status);
}
