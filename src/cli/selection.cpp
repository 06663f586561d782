#include "src/cli/selection.h"

#include <fnmatch.h>

#include <algorithm>
#include <iterator>
#include <utility>

namespace flashcheck {
namespace {

bool is_selected(const std::string& id, const std::vector<std::string>& filters) {
  if (filters.empty()) return true;
  const std::string last = id.substr(id.rfind('/') + 1);
  return std::any_of(filters.begin(), filters.end(), [&](const std::string& filter) {
    return fnmatch(filter.c_str(), id.c_str(), 0) == 0 || filter == last;
  });
}

}  // namespace

LoadResult load_selected(const std::vector<std::string>& paths,
                         const std::vector<std::string>& filters) {
  CasePaths expanded = expand_paths(paths);
  LoadResult all{.complaints = std::move(expanded.complaints)};
  for (const std::string& path : expanded.files) {
    LoadResult loaded = load_file(path);
    for (Case& c : loaded.cases) {
      if (is_selected(c.id, filters)) all.cases.push_back(std::move(c));
    }
    std::move(loaded.complaints.begin(), loaded.complaints.end(),
              std::back_inserter(all.complaints));
  }
  return all;
}

}  // namespace flashcheck
