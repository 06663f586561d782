#include <doctest/doctest.h>

#include <cstdlib>

#include "tests/simt/counters.h"
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

namespace {

void check_random_calls(uint32_t seed) {
  std::mt19937 rng(seed);
  const int num_calls = asked("FLASHCHECK_EMULATED_CALLS", 100) / 2;
  for (int n = 0; n < num_calls; ++n) {
    CAPTURE(n);
    const std::optional<std::string> fault =
        fault_of(random_kernel_call(rng), asked("FLASHCHECK_SCHEDULES", 20));
    CHECK_MESSAGE(!fault, fault.value_or(""));
  }
}

}  // namespace

// In two halves, so that two processors can share them.
TEST_CASE("random calls of every kind agree with a naive double loop on the CUDA kernel, 1 of 2") {
  check_random_calls(20261130);
}

TEST_CASE("random calls of every kind agree with a naive double loop on the CUDA kernel, 2 of 2") {
  check_random_calls(20261201);
}

TEST_CASE("whole rows are read in whole sectors, and shared memory without a bank conflict") {
  for (const int64_t d : {64, 128, 256}) {
    for (const int64_t page : {0, 16}) {
      CAPTURE(d);
      CAPTURE(page);
      const simt::Counters counters = counters_of({.h = 8,
                                                   .h_k = 2,
                                                   .d = d,
                                                   .seqlens_q = {20},
                                                   .seqlens_k = {130},
                                                   .is_varlen = page > 0,
                                                   .page_block_size = page,
                                                   .is_causal = true});
      CHECK(counters.ldmatrix > 0);
      CHECK(counters.ldmatrix_reads.conflicts() == 0);
      CHECK(counters.cp_async_writes.conflicts() == 0);
      CHECK(counters.cp_async_reads.requests > 0);
      CHECK(counters.cp_async_reads.sectors == counters.cp_async_reads.sectors_needed);
    }
  }
}
