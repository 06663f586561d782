#pragma once

#include <string>

#include "src/cli/options.h"

namespace flashcheck {

/// Whether stdout gets colour: the option, then NO_COLOR and TERM=dumb, then whether it is a
/// terminal.
bool use_color(ColorMode mode);
/// Columns of stdout: the terminal's, else COLUMNS, else 100; between 40 and 120.
int text_width();
bool stderr_is_terminal();
/// How the user calls this program: a script that stands before it says so in FLASHCHECK_PROGRAM.
std::string program_name();

}  // namespace flashcheck
