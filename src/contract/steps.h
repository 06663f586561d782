#pragma once

#include "src/contract/contract_rule.h"

namespace flashcheck {

/// The op that a function applies, with its checks in order. The result lives for ever.
const Op& op_of(const WrapperFunction& function);

}  // namespace flashcheck
