#include "src/contract/contract.h"

#include <utility>

#include "src/contract/launch.h"
#include "src/contract/rules.h"
#include "src/contract/steps.h"

namespace flashcheck {
namespace {

Finding finding_of(const Step& step, Facts facts) {
  Finding finding = make_finding(step.rule->rule, std::move(facts.where), std::move(facts.args));
  finding.fix = std::move(facts.fix);
  finding.source = step.source;
  return finding;
}

void transpose(Case& c, const Transpose& t) {
  TensorSpec& tensor = *c.tensors[static_cast<size_t>(t.tensor)];
  std::swap(tensor.shape[t.axis], tensor.shape[t.other]);
  std::swap(tensor.strides[t.axis], tensor.strides[t.other]);
}

}  // namespace

Outcome check_contract(const Case& c) {
  const Op& op = op_of(*c.function);
  Outcome outcome;
  std::optional<Case> repaired;
  for (const Step& step : op.steps) {
    const Call call{repaired ? *repaired : c, op};
    if (step.subject && !c.find(*step.subject)) continue;
    const TensorName subject = step.subject.value_or(TensorName::kQ);
    if (!step.rule->fails(call, subject)) continue;
    if (outcome.findings.empty()) {
      outcome.kind = step.rule->panics ? Outcome::Kind::kPanic : Outcome::Kind::kError;
    }
    Facts facts = step.rule->facts(call, subject);
    if (!facts.transposes.empty() && !repaired) repaired = c;
    for (const Transpose& t : facts.transposes) transpose(*repaired, t);
    outcome.findings.push_back(finding_of(step, std::move(facts)));
  }
  if (outcome.findings.empty()) outcome.launch = launch_of({c, op});
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
