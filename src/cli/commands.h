#pragma once

#include "src/cli/options.h"
#include "src/exit_status.h"

namespace flashcheck {

// Each command reads its options, prints to stdout (progress and complaints about the command to
// stderr) and says how the process ends. Exceptions are faults of the tool or the machine.
ExitStatus run_command(const RunOptions& options);
ExitStatus map_command(const MapOptions& options);
ExitStatus lint_command(const LintOptions& options);
ExitStatus layouts_command(const LayoutsOptions& options);
ExitStatus backends_command();
ExitStatus explain_command(const ExplainOptions& options);
ExitStatus rules_command(const RulesOptions& options);

}  // namespace flashcheck
