#pragma once

#include <optional>
#include <vector>

#include "src/spec/attention_problem.h"
#include "src/spec/case.h"
#include "src/spec/launch_params.h"
#include "src/spec/tensor.h"

namespace flashcheck {

/// The sequences of an accepted call; none where q is empty. `inputs` holds the values of the
/// lengths. Preconditions as below.
std::vector<Sequence> sequences_of(const Case& c, const Inputs& inputs);

/// Reads the problem that the caller meant out of an accepted call. `inputs` holds the values of
/// the small tensors (seqlens, block table, ranges, slopes). Precondition: the contract accepted
/// the call and the memory-safety rules found nothing.
AttentionProblem declared_problem(const Case& c, const LaunchParams& launch, const Inputs& inputs);

}  // namespace flashcheck
