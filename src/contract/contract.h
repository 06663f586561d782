#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "src/spec/case.h"
#include "src/spec/finding.h"
#include "src/spec/launch_params.h"

namespace flashcheck {

/// What the wrapper says to a call.
struct Outcome {
  enum class Kind : uint8_t { kLaunch, kError, kPanic };
  Kind kind = Kind::kLaunch;
  /// kError, kPanic: the first finding is what the wrapper says, byte for byte; the others are the
  /// later checks that would fail too and can be evaluated ("after that"). Where a finding's fix is
  /// a transpose beyond doubt, the checks after it see the call so repaired. kLaunch: empty.
  std::vector<Finding> findings;
  std::optional<LaunchParams> launch;  // kLaunch alone
};

/// Runs the wrapper's checks in the wrapper's own order (candle-contract: v2 and v3 at 2a13b0f3,
/// with backtraces off and enough device memory).
Outcome check_contract(const Case& c);

/// A check where it stands in a wrapper's order, for `rules`, `explain` and the tests.
struct ContractStepInfo {
  const Rule* rule;
  std::string_view subject;  // "k", or "" where the rule has none
  std::string_view source;   // "candle-flash-attn/src/lib.rs:63"
};
std::vector<ContractStepInfo> contract_steps(const WrapperFunction& function);

/// Every FC-Ennn rule, ascending.
std::span<const Rule* const> contract_rules();

}  // namespace flashcheck
