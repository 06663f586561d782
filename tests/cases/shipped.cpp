#include "tests/cases/shipped.h"

#include <stdexcept>
#include <utility>

#include "src/load/load.h"

namespace flashcheck {
namespace {

std::vector<Case> load_shipped() {
  const CasePaths paths = expand_paths({FLASHCHECK_SOURCE_DIR "/cases"});
  std::vector<Case> cases;
  for (const std::string& path : paths.files) {
    LoadResult loaded = load_file(path);
    for (const LoadComplaint& complaint : loaded.complaints) {
      throw std::logic_error(path + ":" + std::to_string(complaint.source.line) + ": " +
                             complaint.finding.message);
    }
    for (Case& c : loaded.cases) cases.push_back(std::move(c));
  }
  return cases;
}

}  // namespace

const std::vector<Case>& shipped_cases() {
  static const std::vector<Case> cases = load_shipped();
  return cases;
}

std::string_view stem_of(const Case& c) { return std::string_view(c.id).substr(0, c.id.find('/')); }

bool is_control(const Case& c) { return c.id.find('/') == std::string::npos; }

}  // namespace flashcheck
