#include <doctest/doctest.h>

#include <algorithm>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "src/check_case.h"
#include "src/layouts/layout.h"
#include "tests/cases/shipped.h"

namespace flashcheck {
namespace {

/// The shipped cases layout-*/known-output: the output follows from the engine's declared shape.
std::vector<const Case*> known_outputs() {
  std::vector<const Case*> found;
  for (const Case& c : shipped_cases()) {
    if (stem_of(c).starts_with("layout-") && c.id.ends_with("/known-output")) found.push_back(&c);
  }
  return found;
}

TEST_CASE("every layout that a wrapper takes has a case with a known output") {
  std::set<std::string> names;
  for (const Case* c : known_outputs()) {
    names.insert(std::string(stem_of(*c)).substr(std::string("layout-").size()));
  }
  for (const Layout& layout : layouts()) {
    CAPTURE(layout.name);
    const bool has_one_head_dim = layout.name != "mla-latent";
    CHECK(names.contains(std::string(layout.name)) == (is_view(layout) && has_one_head_dim));
  }
}

TEST_CASE("a known output is right of the layout, and wrong of any two strides exchanged") {
  for (const Case* c : known_outputs()) {
    CAPTURE(c->id);
    const CaseReport report = check_case(*c, {});
    CHECK(report.verdict == Verdict::kOk);
    CHECK(report.judged_dump);
    // Values are filled in the order of the storage, so other strides read other elements.
    for (const TensorName name : {TensorName::kK, TensorName::kV}) {
      for (const auto& [one, other] : std::vector<std::pair<size_t, size_t>>{{0, 1}, {1, 2}}) {
        Case exchanged = *c;
        std::vector<int64_t>& strides = exchanged.tensors[static_cast<size_t>(name)]->strides;
        std::swap(strides[one], strides[other]);
        for (StorageSpec& storage : exchanged.storages) storage.elements *= 64;
        CHECK(check_case(exchanged, {}).verdict == Verdict::kMismatch);
      }
    }
  }
}

TEST_CASE("a layout by its name and the same strides without it are the same call") {
  size_t pairs = 0;
  for (const Case& c : shipped_cases()) {
    if (!stem_of(c).starts_with("layout-") || !c.id.ends_with("/as-strides")) continue;
    CAPTURE(c.id);
    const auto control = std::ranges::find_if(shipped_cases(), [&](const Case& other) {
      return is_control(other) && stem_of(other) == stem_of(c);
    });
    REQUIRE(control != shipped_cases().end());
    for (const auto& [named, plain] :
         {std::pair(&control->k(), &c.k()), std::pair(&control->v(), &c.v())}) {
      CHECK(named->shape == plain->shape);
      CHECK(named->strides == plain->strides);
      CHECK(named->offset == plain->offset);
      CHECK(control->storage_elements(*named) == c.storage_elements(*plain));
    }
    CHECK((control->k().storage == control->v().storage) == (c.k().storage == c.v().storage));
    const CaseReport one = check_case(*control, {}), two = check_case(c, {});
    REQUIRE(one.comparison.has_value());
    REQUIRE(two.comparison.has_value());
    CHECK(one.comparison->max_ratio == two.comparison->max_ratio);
    ++pairs;
  }
  CHECK(pairs == known_outputs().size());
}

}  // namespace
}  // namespace flashcheck
