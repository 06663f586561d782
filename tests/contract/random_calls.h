#pragma once

#include <random>

#include "src/spec/case.h"

namespace flashcheck {

/// A call that is accepted, of a random function of candle's or of no wrapper.
Case random_accepted_call(std::mt19937_64& rng);

/// Changes one thing at random: a dim, a rank, a stride, an offset, a dtype, a device, a storage or
/// an argument; small, zero and absurd values alike. The result is a loadable case.
void change_at_random(Case& c, std::mt19937_64& rng);

}  // namespace flashcheck
