#pragma once

#include <cstdint>
#include <string>

namespace simt {

/// The cuBLAS that the emulated device has; tests may change it between calls.
struct Cublas {
  std::string missing;  // why it cannot be loaded; empty: it can
  /// The call of this name fails, with the status of this number; empty: none does.
  std::string failing_call;
  int failure = 13;  // CUBLAS_STATUS_EXECUTION_FAILED
  int64_t num_double_products = 0, num_low_precision_products = 0;  // so far
};

/// One for the whole program.
Cublas& cublas();

}  // namespace simt
