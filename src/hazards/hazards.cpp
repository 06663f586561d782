#include "src/hazards/hazards.h"

#include <array>

#include "src/hazards/families.h"
#include "src/hazards/memory_safety.h"

namespace flashcheck {
namespace {

std::array<std::span<const HazardRule>, 3> families() {
  return {address_hazards(), sequence_hazards(), paging_hazards()};
}

}  // namespace

Hazards find_hazards(const Case& c, const LaunchParams& launch, const Inputs& small) {
  const HazardContext context = make_hazard_context(c, launch, small);
  Hazards hazards;
  for (const std::span<const HazardRule> family : families()) {
    for (const HazardRule& rule : family) {
      rule.check(context, rule.rule,
                 [&](Finding finding) { hazards.findings.push_back(std::move(finding)); });
    }
  }
  hazards.is_memory_safe = is_memory_safe(context);
  return hazards;
}

std::span<const Rule* const> hazard_rules() {
  static const std::vector<const Rule*> rules = [] {
    std::vector<const Rule*> all;
    for (const std::span<const HazardRule> family : families()) {
      for (const HazardRule& rule : family) all.push_back(&rule.rule);
    }
    return all;
  }();
  return rules;
}

}  // namespace flashcheck
