#include "src/spec/verdict.h"

#include <array>

namespace flashcheck {
namespace {

constexpr std::array<std::string_view, 8> kNames{"ok",       "error",      "panic",   "hazard",
                                                 "mismatch", "mistrusted", "skipped", "invalid"};

}  // namespace

std::string_view name_of(Verdict verdict) { return kNames[static_cast<size_t>(verdict)]; }

std::optional<Verdict> parse_verdict(std::string_view name) {
  for (size_t i = 0; i < kNames.size(); ++i) {
    if (kNames[i] == name) return static_cast<Verdict>(i);
  }
  return std::nullopt;
}

}  // namespace flashcheck
