#include "kernels/backend.h"

#include <doctest/doctest.h>

#include <stdexcept>

using namespace flashcheck;

TEST_CASE("the CPU backend comes first, can run, refuses nothing, and is found by name") {
  const Backend& cpu = backends()[0];
  CHECK(cpu.name == "cpu");
  CHECK_FALSE(cpu.description.empty());
  CHECK(cpu.devices().empty());
  CHECK(cpu.unavailable(0).empty());
  CHECK(cpu.refusal({}).empty());
  CHECK(find_backend("cpu") == &cpu);
  CHECK(find_backend("CPU") == nullptr);
  CHECK(find_backend("") == nullptr);
}

TEST_CASE("the CUDA backend is there in every build, and says why where it cannot run") {
  REQUIRE(backends().size() == 2);
  const Backend* cuda = find_backend("cuda");
  REQUIRE(cuda == &backends()[1]);
  CHECK_FALSE(cuda->description.empty());
  const int past_the_last = static_cast<int>(cuda->devices().size());
  CHECK_FALSE(cuda->unavailable(past_the_last).empty());
#ifndef FLASHCHECK_CUDA
  CHECK(cuda->devices().empty());
  CHECK(cuda->unavailable(0) ==
        "this build has no CUDA kernel; `./bootstrap build cuda` makes one that has (with CMake: "
        "-DFLASHCHECK_CUDA=ON)");
  CHECK_THROWS_AS(cuda->run({}, {}), std::runtime_error);
#endif
}
