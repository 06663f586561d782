#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "src/spec/case.h"
#include "src/spec/finding.h"

namespace flashcheck {

struct Step;

/// What a public function applies to q, k and v: candle's CustomOp3, and the checks that it makes.
struct Op {
  Wrapper wrapper = Wrapper::kCandleFlashAttn;
  std::string_view name;    // CustomOp3::name(): "flash-attn-varlen"
  std::string_view family;  // as most of its messages spell it: "flash-attn"
  bool varlen = false, paged = false;
  std::span<const Step> steps;  // in order of execution

  /// Fixed: [batch, row, head, dim]. Varlen: [row, head, dim]. Paged k and v: [page, row, head,
  /// dim].
  int q_rank() const { return varlen ? 3 : 4; }
  int kv_rank() const { return varlen && !paged ? 3 : 4; }
};

/// A call in the light of its op. What a rule may ask of one; a precondition that does not hold
/// means that an earlier check has failed.
struct Call {
  const Case& c;
  const Op& op;

  int expected_rank(TensorName name) const {
    switch (name) {
      case TensorName::kQ:
        return op.q_rank();
      case TensorName::kSeqlensQ:
      case TensorName::kSeqlensK:
      case TensorName::kAlibiSlopes:
        return 1;
      case TensorName::kBlockTable:
        return 2;
      case TensorName::kMmPrefixRanges:
        return 3;
      default:
        return op.kv_rank();
    }
  }
  bool has_expected_rank(TensorName name) const { return c.at(name).rank() == expected_rank(name); }
  /// Preconditions: q, or k, has its expected rank.
  int64_t head_dim() const { return c.q().shape.back(); }
  int64_t num_heads() const { return c.q().shape[c.q().shape.size() - 2]; }
  int64_t num_heads_k() const { return c.k().shape[c.k().shape.size() - 2]; }
  /// Of a varlen call, from seqlens_q; nothing if that tensor cannot say.
  std::optional<int64_t> batch_size() const {
    const TensorSpec& seqlens = c.at(TensorName::kSeqlensQ);
    if (seqlens.rank() != 1 || seqlens.shape[0] < 2) return std::nullopt;
    return seqlens.shape[0] - 1;
  }
};

/// Two axes of a tensor exchanged.
struct Transpose {
  TensorName tensor;
  size_t axis, other;
};

/// The facts of one broken rule, for a Finding.
struct Facts {
  std::string where;  // JSON pointer into the case
  std::vector<FindingArg> args;
  std::string fix;  // with the call's own numbers; empty: the rule's
  /// What the fix does, where it is a transpose beyond doubt: later checks see the call after it.
  std::vector<Transpose> transposes = {};
};

/// A check of a wrapper: its words and its condition.
struct ContractRule {
  Rule rule;
  bool panics = false;
  /// Whether the check fails on a call, apart from the checks before it: false where it cannot be
  /// evaluated, or where it would only repeat an earlier check's fault. `subject` is the tensor
  /// that the step names (q where it names none).
  bool (*fails)(const Call& call, TensorName subject) = nullptr;
  /// Precondition: fails(call, subject).
  Facts (*facts)(const Call& call, TensorName subject) = nullptr;
};

/// A rule where it stands in an op's order. Skipped if the call does not have the subject.
struct Step {
  const ContractRule* rule;
  std::string_view source;  // file:line of the check
  std::optional<TensorName> subject = std::nullopt;
};

}  // namespace flashcheck
