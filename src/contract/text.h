#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "src/spec/case.h"

namespace flashcheck {

/// "[2048, 1, 256, 4]": a slice of usize, or a Shape, as Rust's derived Debug prints it.
std::string rust_list(const std::vector<int64_t>& numbers);

/// "4", "4 or 8", "1, 2 or 4".
std::string either(const std::vector<int64_t>& numbers);

/// "/tensors/k/shape".
std::string pointer_to(TensorName name, std::string_view member);

/// "f16", "bf16", … as a Rust path: "DType::BF16".
std::string rust_path(Dtype dtype);

/// "batch", "row", "head" or "dim": what the call's function takes an axis of q, k or v for.
/// Precondition: the tensor has the rank that the function expects.
std::string_view axis_name(bool paged_kv, int rank, int axis);

/// The shape with two axes exchanged.
std::vector<int64_t> transposed(std::vector<int64_t> shape, size_t axis, size_t other);

}  // namespace flashcheck
