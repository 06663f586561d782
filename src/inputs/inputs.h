#pragma once

#include <cstdint>
#include <optional>

#include "src/spec/case.h"
#include "src/spec/finding.h"
#include "src/spec/tensor.h"

namespace flashcheck {

/// Whether the case gives this tensor values at all (q, k, v, out, lse and slopes without any are
/// filled or absent; tables and lengths are not invented).
bool has_values(const TensorSpec& tensor);

/// The storages of a case, filled: first NaN everywhere, then each tensor's values, in the order of
/// TensorName. q, k and v without values get N(0,1), slopes 2^(-8 (h+1) / num_heads), seeded by the
/// case's seed and the tensor's name. Throws InputError where a file cannot be read, a value does
/// not fit or memory is short. `with_data` false leaves q, k, v, out and lse out (the small tensors
/// are all that static rules need), and leaves storages empty that no value or over 64 MiB belong
/// to. Elements that a tensor claims outside its storage are not written: the hazards speak of
/// them.
Inputs make_inputs(const Case& c, bool with_data);

/// Bytes that make_inputs and a run need at most: the storages, out and lse as the kernel writes
/// them, one kv head of K and V of the longest sequence (which may name a page many times) and the
/// compared elements in double; nothing if it does not fit an int64.
std::optional<int64_t> bytes_needed(const Case& c, int64_t longest_seqlen_k);

/// What make_inputs throws: a finding of an FC-X rule.
struct InputError {
  Finding finding;
};

}  // namespace flashcheck
