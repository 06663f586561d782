#include <doctest/doctest.h>

#include "kernels/cpu/flash_attention.h"
#include "tests/kernels/attention_call.h"

namespace flashcheck::testing {

void check_against_naive(AttentionCall& call, int num_threads) {
  cpu_flash_attention(call.params(), num_threads);
  for (const std::string& fault : faults_of(call)) FAIL_CHECK(fault);
}

}  // namespace flashcheck::testing
