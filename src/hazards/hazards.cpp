#include "src/hazards/hazards.h"

#include <fmt/format.h>

#include <algorithm>

#include "src/hazards/families.h"
#include "src/hazards/memory_safety.h"
#include "src/hazards/plain_lengths.h"

namespace flashcheck {
namespace {

constexpr int kMaxFindings = 8;  // of one rule, likewise lines included: a screen, not a log

bool names_a_sequence(const Finding& finding) {
  return std::any_of(finding.args.begin(), finding.args.end(),
                     [](const FindingArg& arg) { return arg.name == "sequence"; });
}

/// Whether the second finding of a rule says nothing that its message does not: its reason and its
/// fix are those of the first, but for the numbers of another sequence. Information is a line each.
bool is_likewise(const Finding& first, const Finding& second) {
  if (first.rule->severity == Severity::kInformation) return false;
  return first.fix_text() == second.fix_text() ||
         (names_a_sequence(first) && names_a_sequence(second));
}

void check_rule(const HazardContext& context, const HazardRule& rule,
                std::vector<Finding>& findings) {
  int count = 0;
  rule.check(context, rule.rule, [&](Finding finding) {
    if (++count > kMaxFindings) return;
    if (count > 1 && is_likewise(findings.back(), finding)) {
      findings.back().details.push_back("likewise " + finding.message);
    } else {
      findings.push_back(std::move(finding));
    }
  });
  if (count > kMaxFindings) {
    findings.back().details.push_back(fmt::format("and {} more like this", count - kMaxFindings));
  }
}

}  // namespace

const std::vector<std::span<const HazardRule>>& hazard_families() {
  static const std::vector<std::span<const HazardRule>> families{
      unknown_value_hazards(), address_hazards(),
      layout_hazards(),        shared_bytes_hazards(),
      sequence_hazards(),      maximum_hazards(),
      window_hazards(),        spare_room_hazards(),
      paging_hazards(),        plain_length_hazards(),
      prefix_range_hazards(),  head_dim_hazards(),
      scale_hazards(),         value_hazards(),
      launch_hazards(),        v3_hazards(),
      declared_hazards(),      engine_assumptions()};
  return families;
}

Hazards find_hazards(const Case& c, const LaunchParams& launch, const Inputs& small) {
  const HazardContext context = make_hazard_context(c, launch, small);
  const HazardContext meaningful = without_plain_lengths(context);
  const Callee callee = callee_of(launch.wrapper);
  Hazards hazards;
  for (const std::span<const HazardRule> family : hazard_families()) {
    for (const HazardRule& rule : family) {
      if (rule.callees & callee) check_rule(meaningful, rule, hazards.findings);
    }
  }
  hazards.is_memory_safe = is_memory_safe(context);
  return hazards;
}

std::span<const Rule* const> hazard_rules() {
  static const std::vector<const Rule*> rules = [] {
    std::vector<const Rule*> all;
    for (const std::span<const HazardRule> family : hazard_families()) {
      for (const HazardRule& rule : family) all.push_back(&rule.rule);
    }
    return all;
  }();
  return rules;
}

Callee callee_of(Wrapper wrapper) {
  switch (wrapper) {
    case Wrapper::kCandleFlashAttn:
      return kV2;
    case Wrapper::kCandleFlashAttnV3:
      return kV3;
    case Wrapper::kNone:
      return kDirect;
  }
  return kDirect;
}

std::string_view name_of(HazardKind kind) {
  switch (kind) {
    case HazardKind::kOutOfBoundsRead:
      return "out-of-bounds read";
    case HazardKind::kOutOfBoundsWrite:
      return "out-of-bounds write";
    case HazardKind::kUnwritten:
      return "never written";
    case HazardKind::kWrong:
      return "wrong numbers";
    case HazardKind::kNan:
      return "NaN";
    case HazardKind::kFault:
      return "device fault";
    case HazardKind::kExit:
      return "process exit";
    case HazardKind::kInformation:
      return "information";
  }
  return "";
}

}  // namespace flashcheck
