#include "kernels/backend.h"

#include <doctest/doctest.h>

using namespace flashcheck;

TEST_CASE("the CPU backend is there, can run, and is found by name") {
  REQUIRE(backends().size() == 1);
  const Backend& cpu = backends()[0];
  CHECK(cpu.name == "cpu");
  CHECK_FALSE(cpu.description.empty());
  CHECK(cpu.unavailable().empty());
  CHECK(find_backend("cpu") == &cpu);
  CHECK(find_backend("CPU") == nullptr);
  CHECK(find_backend("") == nullptr);
}
