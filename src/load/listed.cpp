#include "src/load/listed.h"

#include <fmt/format.h>

namespace flashcheck {

std::string listed(std::span<const std::string_view> words) {
  return fmt::format("{}", fmt::join(words, ", "));
}

}  // namespace flashcheck
