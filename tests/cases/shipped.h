#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "src/spec/case.h"

namespace flashcheck {

/// Every case of cases/*.json, in order of file. Loaded once; a complaint is a std::logic_error.
const std::vector<Case>& shipped_cases();

/// "contract-order" of "contract-order/o1-…": the file's stem.
std::string_view stem_of(const Case& c);
/// Whether the case is the problem at the top of its file.
bool is_control(const Case& c);

}  // namespace flashcheck
