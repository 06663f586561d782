#include "src/compare/mismatch_rules.h"

#include <array>

#include "src/compare/judge.h"

namespace flashcheck {

const Rule kNumbersOutOfBound{
    .code = "FC-M001",
    .name = "numbers-out-of-bound",
    .message =
        "{wrong} of {checked} outputs are wrong, in {wrong_rows} of {lines} (row, head) "
        "pairs; the worst is {ratio} times as far off as its arithmetic allows",
    .why =
        "The bound is derived from the roundings a correct kernel may make, for any order of "
        "keys and any tiling; what lies outside it is no rounding.",
    .fix =
        "Look at which heads, rows and pages are wrong: all of one head point to the head map, "
        "the last rows to the mask, single pages to the block table.",
    .source = "docs/numerics.md"};

const Rule kNonFiniteOutput{
    .code = "FC-M002",
    .name = "non-finite-output",
    .message =
        "{wrong} of {checked} outputs are NaN or infinite where the truth is a number; the "
        "first: sequence {sequence}, head {head}, row {row}, column {column}",
    .why =
        "A masked key that holds NaN or infinity was multiplied by a weight of 0, memory outside "
        "the tensor was read, or an exponential overflowed.",
    .fix =
        "Look for non-finite values in K and V where the row must not see them, and for a "
        "running maximum that starts at -inf and is subtracted from itself.",
    .source = "docs/numerics.md"};

const Rule kUnwrittenOutput{
    .code = "FC-M003",
    .name = "unwritten-output",
    .message = "{unwritten} outputs were never written",
    .why =
        "The output is filled with a pattern before the run, and there it still is. On a GPU "
        "such elements keep whatever the memory held before.",
    .fix = "Look at the grid: the number of row tiles, heads and sequences it covers.",
    .source = "docs/numerics.md"};

const Rule kWriteOutsideOutput{
    .code = "FC-M004",
    .name = "write-outside-output",
    .message = "{bytes} bytes next to the output or the lse were overwritten",
    .why = "Guard bytes lie before and behind both, and a kernel has no business there.",
    .fix = "Look at the output's strides and at the row limit of the last tile.",
    .source = "docs/numerics.md"};

const Rule kConstantOutput{
    .code = "FC-M005",
    .name = "constant-output",
    .severity = Severity::kWarning,
    .message =
        "all {checked} outputs are {value}: they agree with the truth, but a kernel that "
        "writes one number everywhere would too",
    .why = "A wrong page, head, mask or scale cannot show where every answer is the same.",
    .fix = "Give v values that differ from key to key and from column to column.",
    .source = "docs/numerics.md"};

const Rule kFitsOtherArithmetic{
    .code = "FC-M006",
    .name = "fits-other-arithmetic",
    .severity = Severity::kInformation,
    .message = "more error than {declared} allows, but every output fits {fitting}",
    .why = "The engine may round more than the case allows it to, and do nothing else wrong.",
    .fix = "If the engine is meant to compute so, declare it under \"arithmetic\" in the case.",
    .source = "docs/numerics.md"};

const Rule kLseOutOfBound{
    .code = "FC-M007",
    .name = "lse-out-of-bound",
    .message =
        "{wrong} of {checked} values of lse are wrong; the first: sequence {sequence}, head "
        "{head}, row {row}: {actual} instead of {expected}",
    .why =
        "lse is the natural log of the sum of exponentials of the scaled, capped, biased and "
        "visible scores; +inf for a row that sees no key. Where out is right and lse is not, the "
        "base of the logarithm, the scale or a constant bias is.",
    .fix = "Compare actual - expected with the row's scale: a factor of 0.693 is a log to base 2.",
    .source = "candle-flash-attn/kernels/softmax.h:177-182"};

const Rule kNothingCompared{.code = "FC-M008",
                            .name = "nothing-compared",
                            .severity = Severity::kWarning,
                            .message = "no output was compared: the call has {rows} query rows",
                            .why = "An answer without a single element proves nothing.",
                            .fix = "Give the call at least one sequence with a query row.",
                            .source = "docs/numerics.md"};

const Rule kBoundPromisesNothing{
    .code = "FC-M009",
    .name = "bound-promises-nothing",
    .severity = Severity::kWarning,
    .message =
        "{unbounded} of {checked} outputs could not be judged: the logits are so large that "
        "rounding them can change any weight",
    .why =
        "A logit of a million is known to a few tenths in f32, so that the weights of keys that "
        "nearly tie are open.",
    .fix = "Use a smaller softmax_scale, or smaller q and k.",
    .source = "docs/numerics.md"};

std::span<const Rule* const> mismatch_rules() {
  static constexpr std::array<const Rule*, 9> kRules{
      &kNumbersOutOfBound,  &kNonFiniteOutput, &kUnwrittenOutput,
      &kWriteOutsideOutput, &kConstantOutput,  &kFitsOtherArithmetic,
      &kLseOutOfBound,      &kNothingCompared, &kBoundPromisesNothing};
  return kRules;
}

}  // namespace flashcheck
