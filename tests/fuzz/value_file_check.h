#pragma once

#include <cstdint>
#include <cstdlib>
#include <optional>

#include "src/load/value_file.h"
#include "src/spec/checked.h"

namespace flashcheck {

/// Aborts unless every usable tensor of a header lies inside its file.
inline void require_inside(const ValueFiles::Found& found, int64_t file_bytes) {
  const auto require = [](bool condition) {
    if (!condition) std::abort();
  };
  if (const auto* problem = std::get_if<ValueFileProblem>(&found)) {
    require(problem->rule && !problem->expected.empty() && !problem->got.empty());
    return;
  }
  for (const ValueFileTensor& tensor : std::get<ValueFiles::Tensors>(found)) {
    const std::optional<Dtype> dtype = tensor.dtype ? tensor.dtype : tensor.only_if;
    if (!dtype) continue;
    require(tensor.num_elements >= 0 && tensor.begin_bytes >= 0);
    const auto bytes = checked_mul(tensor.num_elements, size_in_bytes(*dtype));
    require(bytes && tensor.begin_bytes <= file_bytes - *bytes);
    // Dims whose product is no int64 are another check's affair, once a case has named the tensor.
    std::optional<int64_t> product = 1;
    for (int64_t dim : tensor.shape) {
      require(dim >= 0);
      product = product ? checked_mul(*product, dim) : product;
    }
    require(!product || *product == tensor.num_elements);
  }
}

}  // namespace flashcheck
