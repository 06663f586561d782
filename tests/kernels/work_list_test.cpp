#include "kernels/cpu/work_list.h"

#include <doctest/doctest.h>

#include <tuple>
#include <vector>

using namespace flashcheck;

TEST_CASE("every tile of every sequence and head once, in order") {
  const WorkList work({0, 5, 4, 0, 1}, 2, 4);
  std::vector<std::tuple<int64_t, int64_t, int64_t>> items;
  for (int64_t index = 0; index < work.size(); ++index) {
    const WorkItem item = work[index];
    items.emplace_back(item.sequence, item.kv_head, item.tile);
  }
  const std::vector<std::tuple<int64_t, int64_t, int64_t>> expected = {
      {1, 0, 0}, {1, 0, 1}, {1, 1, 0}, {1, 1, 1}, {2, 0, 0}, {2, 1, 0}, {4, 0, 0}, {4, 1, 0}};
  CHECK(items == expected);
}

TEST_CASE("nothing to do") {
  CHECK(WorkList({}, 2, 4).size() == 0);
  CHECK(WorkList({0, 0}, 2, 4).size() == 0);
  CHECK(WorkList({8}, 0, 4).size() == 0);
}
