#pragma once

#include "src/hazards/hazard_context.h"

namespace flashcheck {

/// The context that rules are to look at: tables of a varlen call that hold lengths where their
/// running sums are wanted are moved to `plain_lengths`. The sequences go with them: what follows
/// from such tables is as meaningless as they are.
HazardContext without_plain_lengths(HazardContext context);

}  // namespace flashcheck
