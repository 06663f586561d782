#pragma once

#include <cstdint>
#include <functional>
#include <string_view>

#include "src/hazards/hazard_context.h"
#include "src/spec/finding.h"

namespace flashcheck {

/// What an accepted call does when it goes wrong (candle-contract, section 3).
enum class HazardKind : uint8_t {
  kOutOfBoundsRead,
  kOutOfBoundsWrite,
  kUnwritten,  // output rows keep whatever memory held
  kWrong,      // wrong numbers, and Ok returned
  kNan,
  kFault,        // a device fault that some later call reports
  kExit,         // the process ends
  kInformation,  // right, but often not what the caller meant
};

/// Reports a finding of the rule being checked.
using EmitHazard = std::function<void(Finding)>;

/// A precondition that no wrapper checks: its words, its kind and its condition.
struct HazardRule {
  Rule rule;
  HazardKind kind;
  void (*check)(const HazardContext& context, const Rule& rule, const EmitHazard& emit);
};

}  // namespace flashcheck
