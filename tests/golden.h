#pragma once

#include <string>

/// Holds `actual` against tests/golden/<name>, byte for byte. With UPDATE_GOLDEN=1 in the
/// environment the file is rewritten instead: read its diff like code.
void check_golden(const std::string& name, const std::string& actual);
