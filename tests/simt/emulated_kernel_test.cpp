#include <doctest/doctest.h>

#include <cstdlib>

#include "tests/simt/kernel_calls.h"

using namespace flashcheck::testing;

namespace {

int asked(const char* variable, int otherwise) {
  const char* text = std::getenv(variable);
  return text ? std::atoi(text) : otherwise;
}

}  // namespace

TEST_CASE("the CUDA kernel, run thread by thread, is right and does not depend on the schedule") {
  for (const KernelCall& call : kernel_calls()) {
    CAPTURE(call.shows);
    const std::optional<std::string> fault = fault_of(call, asked("FLASHCHECK_SCHEDULES", 20));
    CHECK_MESSAGE(!fault, fault.value_or(""));
  }
}

TEST_CASE("random calls of every kind agree with a naive double loop on the CUDA kernel") {
  std::mt19937 rng(20261130);
  const int num_calls = asked("FLASHCHECK_RANDOM_CALLS", 100);
  for (int n = 0; n < num_calls; ++n) {
    CAPTURE(n);
    const std::optional<std::string> fault =
        fault_of(random_kernel_call(rng), asked("FLASHCHECK_SCHEDULES", 20));
    CHECK_MESSAGE(!fault, fault.value_or(""));
  }
}
