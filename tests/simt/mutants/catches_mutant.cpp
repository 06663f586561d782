// Runs the calls on a kernel with one fault, until one shows it. Status 0 if one does.
// With --healthy as argument the kernel has no fault, and status 0 says that none was shown.

#include <iostream>
#include <string_view>

#include "tests/simt/kernel_calls.h"

int main(int argc, char** argv) {
  const bool is_healthy = argc > 1 && std::string_view(argv[1]) == "--healthy";
  for (const flashcheck::testing::KernelCall& call : flashcheck::testing::kernel_calls()) {
    if (const auto fault = flashcheck::testing::fault_of(call, /*num_schedules=*/20)) {
      std::cout << *fault << '\n';
      return is_healthy ? 1 : 0;
    }
  }
  std::cout << "no call shows a fault\n";
  return is_healthy ? 0 : 1;
}
