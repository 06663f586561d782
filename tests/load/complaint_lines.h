#pragma once

#include <string>
#include <vector>

#include "src/load/load.h"

namespace flashcheck {

/// Complaints as "line: code: message", each followed by its details.
std::vector<std::string> lines_of(const std::vector<LoadComplaint>& complaints);

/// The complaints about a document called case.json.
std::vector<std::string> complaints_of(std::string_view text);

/// A valid document on 15 lines, with `from` replaced by `to` once. Fails the test if there is no
/// `from`.
std::string document_with(std::string_view from, std::string_view to);

}  // namespace flashcheck
