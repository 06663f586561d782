#pragma once

#include <string>
#include <vector>

#include "src/load/load.h"

namespace flashcheck {

/// The selected cases of files and directories, and what is wrong with those that are none. A
/// filter is a glob on the whole id; one without wildcards also names a test by its own id. No
/// filter selects every case.
LoadResult load_selected(const std::vector<std::string>& paths,
                         const std::vector<std::string>& filters);

}  // namespace flashcheck
