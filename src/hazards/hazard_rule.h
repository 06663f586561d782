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
/// "out-of-bounds read", "never written", …: as docs/hazards.md spells it.
std::string_view name_of(HazardKind kind);

/// Whose calls a rule is about, as bits. kDirect: no wrapper, Wrapper::kNone; candle's quirks are
/// no hazard there.
enum Callee : uint8_t { kV2 = 1, kV3 = 2, kDirect = 4, kCandle = kV2 | kV3, kAll = 7 };
Callee callee_of(Wrapper wrapper);

/// Reports a finding of the rule being checked.
using EmitHazard = std::function<void(Finding)>;

/// A precondition that no wrapper checks: its words, its kind and its condition.
struct HazardRule {
  Rule rule;
  HazardKind kind;
  uint8_t callees;  // of Callee
  void (*check)(const HazardContext& context, const Rule& rule, const EmitHazard& emit);
};

}  // namespace flashcheck
