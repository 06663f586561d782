#include "src/contract/contract.h"

#include "src/contract/launch.h"
#include "src/contract/rules.h"
#include "src/contract/steps.h"

namespace flashcheck {
namespace {

Finding finding_of(const Call& call, const Step& step, TensorName subject) {
  Facts facts = step.rule->facts(call, subject);
  Finding finding = make_finding(step.rule->rule, std::move(facts.where), std::move(facts.args));
  finding.fix = std::move(facts.fix);
  finding.source = step.source;
  return finding;
}

}  // namespace

Outcome check_contract(const Case& c) {
  const Call call{c, op_of(*c.function)};
  Outcome outcome;
  for (const Step& step : call.op.steps) {
    if (step.subject && !c.find(*step.subject)) continue;
    const TensorName subject = step.subject.value_or(TensorName::kQ);
    if (!step.rule->fails(call, subject)) continue;
    if (outcome.findings.empty()) {
      outcome.kind = step.rule->panics ? Outcome::Kind::kPanic : Outcome::Kind::kError;
    }
    outcome.findings.push_back(finding_of(call, step, subject));
  }
  if (outcome.findings.empty()) outcome.launch = launch_of(call);
  return outcome;
}

std::vector<ContractStepInfo> contract_steps(const WrapperFunction& function) {
  std::vector<ContractStepInfo> infos;
  for (const Step& step : op_of(function).steps) {
    const bool is_about_slopes = step.subject == TensorName::kAlibiSlopes;
    if (is_about_slopes && function.alibi == Presence::kAbsent) continue;
    infos.push_back({&step.rule->rule, step.subject ? name_of(*step.subject) : "", step.source});
  }
  return infos;
}

std::span<const Rule* const> contract_rules() {
  static constexpr const Rule* kRules[] = {
      &kDeviceMismatch.rule,
      &kNoCpuSupport.rule,
      &kNoMetalSupport.rule,
      &kNotACudaTensor.rule,
      &kQueryDtypeUnsupported.rule,
      &kSeqlensNotU32.rule,
      &kDtypeDiffersFromQuery.rule,
      &kBlockTableNotInteger.rule,
      &kPrefixRangesNotI32.rule,
      &kFixedRankNot4.rule,
      &kVarlenRankNot3.rule,
      &kPagedKvRankNot4.rule,
      &kSmallTensorRank.rule,
      &kLastDimNotContiguous.rule,
      &kSeqlensNotContiguous.rule,
      &kTableLastDimNotContiguous.rule,
      &kQueryAndKeyShapesDisagree.rule,
      &kQueryAndValueShapesDisagree.rule,
      &kKeyAndValueShapesDisagree.rule,
      &kHeadDimOver512.rule,
      &kPagedHeadDimOver512.rule,
      &kHeadDimNotInV3.rule,
      &kHeadDimNotMultipleOf8.rule,
      &kKvHeadsDoNotDivide.rule,
      &kNoKvHeads.rule,
      &kPageBlockSizeDiffersFromKeys.rule,
      &kPageBlockSizeNotMultipleOf32.rule,
      &kSeqlensTooShort.rule,
      &kSeqlensLengthsDiffer.rule,
      &kPrefixRangesShape.rule,
      &kAlibiSlopesNotF32.rule,
      &kAlibiSlopesLength.rule,
      &kOffsetPastStorage.rule,
      &kSeqlensPastStorage.rule,
      &kNoWrapperRank.rule,
      &kNoWrapperDtype.rule,
      &kNoWrapperStride.rule,
      &kNoWrapperShape.rule,
      &kNoWrapperHeadDim.rule,
      &kNoWrapperHeads.rule,
      &kNoWrapperPageBlockSize.rule,
  };
  return kRules;
}

}  // namespace flashcheck
