#pragma once

#include "src/spec/finding.h"

namespace flashcheck {

extern const Rule kNumbersOutOfBound;
extern const Rule kNonFiniteOutput;
extern const Rule kUnwrittenOutput;
extern const Rule kWriteOutsideOutput;
extern const Rule kConstantOutput;
extern const Rule kFitsOtherArithmetic;
extern const Rule kLseOutOfBound;
extern const Rule kNothingCompared;
extern const Rule kBoundPromisesNothing;

}  // namespace flashcheck
