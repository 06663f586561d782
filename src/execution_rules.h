#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "src/spec/attention_problem.h"
#include "src/spec/case.h"
#include "src/spec/finding.h"

namespace flashcheck {

// Why an accepted call was not run, or not to its end: findings of the FC-X1nn rules. Their verdict
// is `skipped`.

/// `needed`: nothing if the sum does not even fit an int64.
Finding too_much_memory(const std::optional<int64_t>& needed, int64_t limit);
Finding too_much_work(const std::optional<int64_t>& needed, int64_t limit);
/// Values of a table are missing, pages that no query row sees are out of range, or there are too
/// many sequences.
Finding not_proven_safe(const Case& c);
/// Nothing unless a dumped out or lse has not the shape that the call gives it.
std::optional<Finding> dump_of_another_shape(const Case& c);

/// Precondition: q has no elements.
Finding nothing_to_compute(const Case& c);

/// An allocation failed although the call is within its limits.
Finding no_more_memory();

/// Another kernel may run the call.
Finding backend_cannot(std::string_view backend, std::string reason);
/// A call of the kernel or the reference to a device came back with an error.
Finding device_call_failed(std::string device, std::string error);

/// Multiply-adds of Q K^T and P V if nothing is masked; nothing if it does not fit. Counts true
/// lengths: max_seqlen_k may be smaller, and a kernel that is not paged does not stop there.
std::optional<int64_t> kernel_work(const Case& c, const std::vector<Sequence>& sequences);

/// Every FC-X1nn rule, ascending.
std::span<const Rule* const> execution_rules();

}  // namespace flashcheck
