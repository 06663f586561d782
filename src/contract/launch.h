#pragma once

#include "src/contract/contract_rule.h"
#include "src/spec/launch_params.h"

namespace flashcheck {

/// What the wrapper passes to its C++ side for a call that passed all its checks, or what it would
/// pass if there were one (Wrapper::kNone).
LaunchParams launch_of(const Call& call);

}  // namespace flashcheck
