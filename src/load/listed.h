#pragma once

#include <span>
#include <string>
#include <string_view>

namespace flashcheck {

/// "a, b, c".
std::string listed(std::span<const std::string_view> words);

}  // namespace flashcheck
