#include "src/cli/parallel.h"

#include <doctest/doctest.h>

#include <atomic>
#include <stdexcept>
#include <thread>
#include <vector>

using flashcheck::for_each_in_order;

TEST_CASE("results come in order whatever finishes first") {
  for (int jobs : {1, 2, 7}) {
    std::vector<int64_t> order;
    std::atomic<int> worked{0};
    for_each_in_order(
        50, jobs,
        [&](int64_t i) {
          if (i % 7 == 0) std::this_thread::sleep_for(std::chrono::milliseconds(2));
          ++worked;
        },
        [&](int64_t i) { order.push_back(i); }, [](int64_t) {});
    CHECK(worked == 50);
    REQUIRE(order.size() == 50);
    for (int64_t i = 0; i < 50; ++i) CHECK(order[static_cast<size_t>(i)] == i);
  }
}

TEST_CASE("an exception of a worker comes out on the calling thread") {
  std::vector<int64_t> order;
  CHECK_THROWS_AS(for_each_in_order(
                      10, 3,
                      [](int64_t i) {
                        if (i == 4) throw std::runtime_error("four");
                      },
                      [&](int64_t i) { order.push_back(i); }, [](int64_t) {}),
                  std::runtime_error);
  CHECK(order == std::vector<int64_t>{0, 1, 2, 3});
}

TEST_CASE("nothing to do is done at once") {
  for_each_in_order(
      0, 4, [](int64_t) { FAIL("no work"); }, [](int64_t) { FAIL("none done"); }, [](int64_t) {});
}
