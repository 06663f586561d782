#pragma once

#include <string>
#include <vector>

#include "src/load/load.h"

namespace flashcheck {

/// A glob on the whole id; one without wildcards also names a test by its own id. No globs select
/// every case.
bool is_selected(const std::string& id, const std::vector<std::string>& filters);

/// The selected cases of files and directories, and what is wrong with those that are none.
LoadResult load_selected(const std::vector<std::string>& paths,
                         const std::vector<std::string>& filters);

}  // namespace flashcheck
