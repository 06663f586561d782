#include "src/contract/steps.h"

#include "src/contract/rules.h"

namespace flashcheck {
namespace {

constexpr auto kQ = TensorName::kQ;
constexpr auto kK = TensorName::kK;
constexpr auto kV = TensorName::kV;
constexpr auto kSeqlensQ = TensorName::kSeqlensQ;
constexpr auto kSeqlensK = TensorName::kSeqlensK;
constexpr auto kBlockTable = TensorName::kBlockTable;
constexpr auto kMmPrefixRanges = TensorName::kMmPrefixRanges;
constexpr auto kAlibiSlopes = TensorName::kAlibiSlopes;

// FlashAttn of candle-flash-attn.
constexpr Step kV2Fixed[] = {
    {&kDeviceMismatch, "candle-core/src/storage.rs:256", kK},
    {&kDeviceMismatch, "candle-core/src/storage.rs:257", kV},
    {&kNoCpuSupport, "candle-flash-attn/src/lib.rs:237"},
    {&kNoMetalSupport, "candle-core/src/custom_op.rs:137"},
    {&kQueryDtypeUnsupported, "candle-flash-attn/src/lib.rs:252"},
    {&kDtypeDiffersFromQuery, "candle-flash-attn/src/lib.rs:39", kK},
    {&kDtypeDiffersFromQuery, "candle-flash-attn/src/lib.rs:40", kV},
    {&kOffsetPastStorage, "candle-flash-attn/src/lib.rs:41", kQ},
    {&kOffsetPastStorage, "candle-flash-attn/src/lib.rs:42", kK},
    {&kOffsetPastStorage, "candle-flash-attn/src/lib.rs:43", kV},
    {&kFixedRankNot4, "candle-flash-attn/src/lib.rs:55-59"},
    {&kLastDimNotContiguous, "candle-flash-attn/src/lib.rs:60-62", kQ},
    {&kLastDimNotContiguous, "candle-flash-attn/src/lib.rs:63-65", kK},
    {&kLastDimNotContiguous, "candle-flash-attn/src/lib.rs:66-68", kV},
    {&kQueryAndKeyShapesDisagree, "candle-flash-attn/src/lib.rs:72-75"},
    {&kQueryAndValueShapesDisagree, "candle-flash-attn/src/lib.rs:76-78"},
    {&kHeadDimOver512, "candle-flash-attn/src/lib.rs:79-81"},
    {&kHeadDimNotMultipleOf8, "candle-flash-attn/src/lib.rs:82-85"},
    {&kNoKvHeads, "candle-flash-attn/src/lib.rs:86"},
    {&kKvHeadsDoNotDivide, "candle-flash-attn/src/lib.rs:86-88"},
    {&kAlibiSlopesNotF32, "candle-flash-attn/src/lib.rs:92-98", kAlibiSlopes},
    {&kSmallTensorRank, "candle-flash-attn/src/lib.rs:102", kAlibiSlopes},
    {&kAlibiSlopesLength, "candle-flash-attn/src/lib.rs:102-108", kAlibiSlopes},
    {&kNotACudaTensor, "candle-flash-attn/src/lib.rs:110-113", kAlibiSlopes},
    {&kOffsetPastStorage, "candle-flash-attn/src/lib.rs:115", kAlibiSlopes},
};

// FlashAttnVarLen of candle-flash-attn without a block table.
constexpr Step kV2Flat[] = {
    {&kDeviceMismatch, "candle-core/src/storage.rs:256", kK},
    {&kDeviceMismatch, "candle-core/src/storage.rs:257", kV},
    {&kNoCpuSupport, "candle-flash-attn/src/lib.rs:838"},
    {&kNoMetalSupport, "candle-core/src/custom_op.rs:137"},
    {&kQueryDtypeUnsupported, "candle-flash-attn/src/lib.rs:853"},
    {&kSeqlensNotU32, "candle-flash-attn/src/lib.rs:483", kSeqlensQ},
    {&kNotACudaTensor, "candle-flash-attn/src/lib.rs:484", kSeqlensQ},
    {&kSeqlensNotContiguous, "candle-flash-attn/src/lib.rs:486-489", kSeqlensQ},
    {&kSeqlensPastStorage, "candle-flash-attn/src/lib.rs:487", kSeqlensQ},
    {&kSeqlensNotU32, "candle-flash-attn/src/lib.rs:493", kSeqlensK},
    {&kNotACudaTensor, "candle-flash-attn/src/lib.rs:494", kSeqlensK},
    {&kSeqlensNotContiguous, "candle-flash-attn/src/lib.rs:496-499", kSeqlensK},
    {&kSeqlensPastStorage, "candle-flash-attn/src/lib.rs:497", kSeqlensK},
    {&kDtypeDiffersFromQuery, "candle-flash-attn/src/lib.rs:521", kK},
    {&kDtypeDiffersFromQuery, "candle-flash-attn/src/lib.rs:522", kV},
    {&kOffsetPastStorage, "candle-flash-attn/src/lib.rs:523", kQ},
    {&kOffsetPastStorage, "candle-flash-attn/src/lib.rs:524", kK},
    {&kOffsetPastStorage, "candle-flash-attn/src/lib.rs:525", kV},
    {&kVarlenRankNot3, "candle-flash-attn/src/lib.rs:538-542"},
    {&kLastDimNotContiguous, "candle-flash-attn/src/lib.rs:548-550", kQ},
    {&kLastDimNotContiguous, "candle-flash-attn/src/lib.rs:551-553", kK},
    {&kLastDimNotContiguous, "candle-flash-attn/src/lib.rs:554-556", kV},
    {&kQueryAndKeyShapesDisagree, "candle-flash-attn/src/lib.rs:588-591"},
    {&kQueryAndValueShapesDisagree, "candle-flash-attn/src/lib.rs:592-594"},
    {&kHeadDimOver512, "candle-flash-attn/src/lib.rs:597-599"},
    {&kHeadDimNotMultipleOf8, "candle-flash-attn/src/lib.rs:600-603"},
    {&kNoKvHeads, "candle-flash-attn/src/lib.rs:604"},
    {&kKvHeadsDoNotDivide, "candle-flash-attn/src/lib.rs:604-606"},
    {&kSmallTensorRank, "candle-flash-attn/src/lib.rs:608", kSeqlensQ},
    {&kSeqlensTooShort, "candle-flash-attn/src/lib.rs:609-611", kSeqlensQ},
    {&kSmallTensorRank, "candle-flash-attn/src/lib.rs:612", kSeqlensK},
    {&kSeqlensLengthsDiffer, "candle-flash-attn/src/lib.rs:613-615"},
    {&kAlibiSlopesNotF32, "candle-flash-attn/src/lib.rs:652-658", kAlibiSlopes},
    {&kSmallTensorRank, "candle-flash-attn/src/lib.rs:662", kAlibiSlopes},
    {&kAlibiSlopesLength, "candle-flash-attn/src/lib.rs:662-668", kAlibiSlopes},
    {&kNotACudaTensor, "candle-flash-attn/src/lib.rs:670-673", kAlibiSlopes},
    {&kOffsetPastStorage, "candle-flash-attn/src/lib.rs:675", kAlibiSlopes},
};

// FlashAttnVarLen of candle-flash-attn with one. `paged flash-attn requires page_block_size`
// (568-570) cannot be reached: the public function always sets it.
constexpr Step kV2Paged[] = {
    {&kDeviceMismatch, "candle-core/src/storage.rs:256", kK},
    {&kDeviceMismatch, "candle-core/src/storage.rs:257", kV},
    {&kNoCpuSupport, "candle-flash-attn/src/lib.rs:838"},
    {&kNoMetalSupport, "candle-core/src/custom_op.rs:137"},
    {&kQueryDtypeUnsupported, "candle-flash-attn/src/lib.rs:853"},
    {&kSeqlensNotU32, "candle-flash-attn/src/lib.rs:483", kSeqlensQ},
    {&kNotACudaTensor, "candle-flash-attn/src/lib.rs:484", kSeqlensQ},
    {&kSeqlensNotContiguous, "candle-flash-attn/src/lib.rs:486-489", kSeqlensQ},
    {&kSeqlensPastStorage, "candle-flash-attn/src/lib.rs:487", kSeqlensQ},
    {&kSeqlensNotU32, "candle-flash-attn/src/lib.rs:493", kSeqlensK},
    {&kNotACudaTensor, "candle-flash-attn/src/lib.rs:494", kSeqlensK},
    {&kSeqlensNotContiguous, "candle-flash-attn/src/lib.rs:496-499", kSeqlensK},
    {&kSeqlensPastStorage, "candle-flash-attn/src/lib.rs:497", kSeqlensK},
    {&kNotACudaTensor, "candle-flash-attn/src/lib.rs:503-506", kBlockTable},
    {&kSmallTensorRank, "candle-flash-attn/src/lib.rs:507", kBlockTable},
    {&kTableLastDimNotContiguous, "candle-flash-attn/src/lib.rs:508-510", kBlockTable},
    {&kDtypeDiffersFromQuery, "candle-flash-attn/src/lib.rs:521", kK},
    {&kDtypeDiffersFromQuery, "candle-flash-attn/src/lib.rs:522", kV},
    {&kOffsetPastStorage, "candle-flash-attn/src/lib.rs:523", kQ},
    {&kOffsetPastStorage, "candle-flash-attn/src/lib.rs:524", kK},
    {&kOffsetPastStorage, "candle-flash-attn/src/lib.rs:525", kV},
    {&kVarlenRankNot3, "candle-flash-attn/src/lib.rs:538-542"},
    {&kPagedKvRankNot4, "candle-flash-attn/src/lib.rs:543-547"},
    {&kLastDimNotContiguous, "candle-flash-attn/src/lib.rs:548-550", kQ},
    {&kLastDimNotContiguous, "candle-flash-attn/src/lib.rs:551-553", kK},
    {&kLastDimNotContiguous, "candle-flash-attn/src/lib.rs:554-556", kV},
    {&kKeyAndValueShapesDisagree, "candle-flash-attn/src/lib.rs:561-564"},
    {&kQueryAndKeyShapesDisagree, "candle-flash-attn/src/lib.rs:565-567"},
    {&kPageBlockSizeDiffersFromKeys, "candle-flash-attn/src/lib.rs:571-576"},
    {&kPageBlockSizeNotMultipleOf32, "candle-flash-attn/src/lib.rs:577-581"},
    {&kPagedHeadDimOver512, "candle-flash-attn/src/lib.rs:582-584"},
    {&kHeadDimNotMultipleOf8, "candle-flash-attn/src/lib.rs:600-603"},
    {&kNoKvHeads, "candle-flash-attn/src/lib.rs:604"},
    {&kKvHeadsDoNotDivide, "candle-flash-attn/src/lib.rs:604-606"},
    {&kSmallTensorRank, "candle-flash-attn/src/lib.rs:608", kSeqlensQ},
    {&kSeqlensTooShort, "candle-flash-attn/src/lib.rs:609-611", kSeqlensQ},
    {&kSmallTensorRank, "candle-flash-attn/src/lib.rs:612", kSeqlensK},
    {&kSeqlensLengthsDiffer, "candle-flash-attn/src/lib.rs:613-615"},
    {&kPrefixRangesNotI32, "candle-flash-attn/src/lib.rs:620-625", kMmPrefixRanges},
    {&kNotACudaTensor, "candle-flash-attn/src/lib.rs:626-629", kMmPrefixRanges},
    {&kSmallTensorRank, "candle-flash-attn/src/lib.rs:630", kMmPrefixRanges},
    {&kPrefixRangesShape, "candle-flash-attn/src/lib.rs:631-636", kMmPrefixRanges},
    {&kTableLastDimNotContiguous, "candle-flash-attn/src/lib.rs:637-639", kMmPrefixRanges},
    {&kBlockTableNotInteger, "candle-flash-attn/src/lib.rs:749-751", kBlockTable},
    {&kOffsetPastStorage, "candle-flash-attn/src/lib.rs:739, 745", kBlockTable},
    {&kOffsetPastStorage, "candle-flash-attn/src/lib.rs:761", kMmPrefixRanges},
};

// FlashAttn of candle-flash-attn-v3. Its check for a multiple of 8 (98-101) cannot fail: the one
// before it lets only 64, 128, 256 and 512 through.
constexpr Step kV3Fixed[] = {
    {&kDeviceMismatch, "candle-core/src/storage.rs:256", kK},
    {&kDeviceMismatch, "candle-core/src/storage.rs:257", kV},
    {&kNoCpuSupport, "candle-flash-attn-v3/src/lib.rs:257"},
    {&kNoMetalSupport, "candle-core/src/custom_op.rs:137"},
    {&kQueryDtypeUnsupported, "candle-flash-attn-v3/src/lib.rs:272"},
    {&kDtypeDiffersFromQuery, "candle-flash-attn-v3/src/lib.rs:48", kK},
    {&kDtypeDiffersFromQuery, "candle-flash-attn-v3/src/lib.rs:49", kV},
    {&kOffsetPastStorage, "candle-flash-attn-v3/src/lib.rs:50", kQ},
    {&kOffsetPastStorage, "candle-flash-attn-v3/src/lib.rs:51", kK},
    {&kOffsetPastStorage, "candle-flash-attn-v3/src/lib.rs:52", kV},
    {&kFixedRankNot4, "candle-flash-attn-v3/src/lib.rs:64-68"},
    {&kLastDimNotContiguous, "candle-flash-attn-v3/src/lib.rs:69-71", kQ},
    {&kLastDimNotContiguous, "candle-flash-attn-v3/src/lib.rs:72-74", kK},
    {&kLastDimNotContiguous, "candle-flash-attn-v3/src/lib.rs:75-77", kV},
    {&kQueryAndKeyShapesDisagree, "candle-flash-attn-v3/src/lib.rs:81-84"},
    {&kQueryAndValueShapesDisagree, "candle-flash-attn-v3/src/lib.rs:85-87"},
    {&kHeadDimOver512, "candle-flash-attn-v3/src/lib.rs:88-90"},
    {&kHeadDimNotInV3, "candle-flash-attn-v3/src/lib.rs:91-97"},
    {&kNoKvHeads, "candle-flash-attn-v3/src/lib.rs:102"},
    {&kKvHeadsDoNotDivide, "candle-flash-attn-v3/src/lib.rs:102-104"},
    {&kAlibiSlopesNotF32, "candle-flash-attn-v3/src/lib.rs:112-118", kAlibiSlopes},
    {&kSmallTensorRank, "candle-flash-attn-v3/src/lib.rs:122", kAlibiSlopes},
    {&kAlibiSlopesLength, "candle-flash-attn-v3/src/lib.rs:122-128", kAlibiSlopes},
    {&kNotACudaTensor, "candle-flash-attn-v3/src/lib.rs:130-133", kAlibiSlopes},
    {&kOffsetPastStorage, "candle-flash-attn-v3/src/lib.rs:135", kAlibiSlopes},
};

// FlashAttnVarLen of candle-flash-attn-v3; of 532-535 as above.
constexpr Step kV3Varlen[] = {
    {&kDeviceMismatch, "candle-core/src/storage.rs:256", kK},
    {&kDeviceMismatch, "candle-core/src/storage.rs:257", kV},
    {&kNoCpuSupport, "candle-flash-attn-v3/src/lib.rs:702"},
    {&kNoMetalSupport, "candle-core/src/custom_op.rs:137"},
    {&kQueryDtypeUnsupported, "candle-flash-attn-v3/src/lib.rs:717"},
    {&kSeqlensNotU32, "candle-flash-attn-v3/src/lib.rs:463", kSeqlensQ},
    {&kNotACudaTensor, "candle-flash-attn-v3/src/lib.rs:464", kSeqlensQ},
    {&kSeqlensNotContiguous, "candle-flash-attn-v3/src/lib.rs:466-469", kSeqlensQ},
    {&kSeqlensPastStorage, "candle-flash-attn-v3/src/lib.rs:467", kSeqlensQ},
    {&kSeqlensNotU32, "candle-flash-attn-v3/src/lib.rs:473", kSeqlensK},
    {&kNotACudaTensor, "candle-flash-attn-v3/src/lib.rs:474", kSeqlensK},
    {&kSeqlensNotContiguous, "candle-flash-attn-v3/src/lib.rs:476-479", kSeqlensK},
    {&kSeqlensPastStorage, "candle-flash-attn-v3/src/lib.rs:477", kSeqlensK},
    {&kDtypeDiffersFromQuery, "candle-flash-attn-v3/src/lib.rs:482", kK},
    {&kDtypeDiffersFromQuery, "candle-flash-attn-v3/src/lib.rs:483", kV},
    {&kOffsetPastStorage, "candle-flash-attn-v3/src/lib.rs:484", kQ},
    {&kOffsetPastStorage, "candle-flash-attn-v3/src/lib.rs:485", kK},
    {&kOffsetPastStorage, "candle-flash-attn-v3/src/lib.rs:486", kV},
    {&kVarlenRankNot3, "candle-flash-attn-v3/src/lib.rs:498-502"},
    {&kLastDimNotContiguous, "candle-flash-attn-v3/src/lib.rs:503-505", kQ},
    {&kLastDimNotContiguous, "candle-flash-attn-v3/src/lib.rs:506-508", kK},
    {&kLastDimNotContiguous, "candle-flash-attn-v3/src/lib.rs:509-511", kV},
    {&kQueryAndKeyShapesDisagree, "candle-flash-attn-v3/src/lib.rs:515-518"},
    {&kQueryAndValueShapesDisagree, "candle-flash-attn-v3/src/lib.rs:519-521"},
    {&kHeadDimOver512, "candle-flash-attn-v3/src/lib.rs:522-524"},
    {&kHeadDimNotInV3, "candle-flash-attn-v3/src/lib.rs:525-531"},
    {&kNoKvHeads, "candle-flash-attn-v3/src/lib.rs:536"},
    {&kKvHeadsDoNotDivide, "candle-flash-attn-v3/src/lib.rs:536-538"},
    {&kSmallTensorRank, "candle-flash-attn-v3/src/lib.rs:544", kSeqlensQ},
    {&kSeqlensTooShort, "candle-flash-attn-v3/src/lib.rs:545-547", kSeqlensQ},
    {&kSmallTensorRank, "candle-flash-attn-v3/src/lib.rs:548", kSeqlensK},
    {&kSeqlensLengthsDiffer, "candle-flash-attn-v3/src/lib.rs:549-551"},
    {&kAlibiSlopesNotF32, "candle-flash-attn-v3/src/lib.rs:557-563", kAlibiSlopes},
    {&kSmallTensorRank, "candle-flash-attn-v3/src/lib.rs:567", kAlibiSlopes},
    {&kAlibiSlopesLength, "candle-flash-attn-v3/src/lib.rs:567-573", kAlibiSlopes},
    {&kNotACudaTensor, "candle-flash-attn-v3/src/lib.rs:575-578", kAlibiSlopes},
    {&kOffsetPastStorage, "candle-flash-attn-v3/src/lib.rs:580", kAlibiSlopes},
};

// Nobody's checks: what makes a problem well defined.
constexpr Step kNoWrapperFixed[] = {
    {&kNoWrapperRank, "docs/case-format.md", kQ},
    {&kNoWrapperRank, "docs/case-format.md", kK},
    {&kNoWrapperRank, "docs/case-format.md", kV},
    {&kNoWrapperRank, "docs/case-format.md", kAlibiSlopes},
    {&kNoWrapperDtype, "docs/case-format.md", kQ},
    {&kNoWrapperDtype, "docs/case-format.md", kK},
    {&kNoWrapperDtype, "docs/case-format.md", kV},
    {&kNoWrapperDtype, "docs/case-format.md", kAlibiSlopes},
    {&kNoWrapperStride, "docs/case-format.md", kQ},
    {&kNoWrapperStride, "docs/case-format.md", kK},
    {&kNoWrapperStride, "docs/case-format.md", kV},
    {&kNoWrapperStride, "docs/case-format.md", kAlibiSlopes},
    {&kNoWrapperShape, "docs/case-format.md", kK},
    {&kNoWrapperShape, "docs/case-format.md", kV},
    {&kNoWrapperShape, "docs/case-format.md", kAlibiSlopes},
    {&kNoWrapperHeadDim, "docs/case-format.md"},
    {&kNoWrapperHeads, "docs/case-format.md"},
};

constexpr Step kNoWrapperFlat[] = {
    {&kNoWrapperRank, "docs/case-format.md", kQ},
    {&kNoWrapperRank, "docs/case-format.md", kK},
    {&kNoWrapperRank, "docs/case-format.md", kV},
    {&kNoWrapperRank, "docs/case-format.md", kSeqlensQ},
    {&kNoWrapperRank, "docs/case-format.md", kSeqlensK},
    {&kNoWrapperRank, "docs/case-format.md", kAlibiSlopes},
    {&kNoWrapperDtype, "docs/case-format.md", kQ},
    {&kNoWrapperDtype, "docs/case-format.md", kK},
    {&kNoWrapperDtype, "docs/case-format.md", kV},
    {&kNoWrapperDtype, "docs/case-format.md", kSeqlensQ},
    {&kNoWrapperDtype, "docs/case-format.md", kSeqlensK},
    {&kNoWrapperDtype, "docs/case-format.md", kAlibiSlopes},
    {&kNoWrapperStride, "docs/case-format.md", kQ},
    {&kNoWrapperStride, "docs/case-format.md", kK},
    {&kNoWrapperStride, "docs/case-format.md", kV},
    {&kNoWrapperStride, "docs/case-format.md", kSeqlensQ},
    {&kNoWrapperStride, "docs/case-format.md", kSeqlensK},
    {&kNoWrapperStride, "docs/case-format.md", kAlibiSlopes},
    {&kNoWrapperShape, "docs/case-format.md", kK},
    {&kNoWrapperShape, "docs/case-format.md", kV},
    {&kNoWrapperShape, "docs/case-format.md", kSeqlensQ},
    {&kNoWrapperShape, "docs/case-format.md", kSeqlensK},
    {&kNoWrapperShape, "docs/case-format.md", kAlibiSlopes},
    {&kNoWrapperHeadDim, "docs/case-format.md"},
    {&kNoWrapperHeads, "docs/case-format.md"},
};

constexpr Step kNoWrapperPaged[] = {
    {&kNoWrapperRank, "docs/case-format.md", kQ},
    {&kNoWrapperRank, "docs/case-format.md", kK},
    {&kNoWrapperRank, "docs/case-format.md", kV},
    {&kNoWrapperRank, "docs/case-format.md", kSeqlensQ},
    {&kNoWrapperRank, "docs/case-format.md", kSeqlensK},
    {&kNoWrapperRank, "docs/case-format.md", kBlockTable},
    {&kNoWrapperRank, "docs/case-format.md", kMmPrefixRanges},
    {&kNoWrapperDtype, "docs/case-format.md", kQ},
    {&kNoWrapperDtype, "docs/case-format.md", kK},
    {&kNoWrapperDtype, "docs/case-format.md", kV},
    {&kNoWrapperDtype, "docs/case-format.md", kSeqlensQ},
    {&kNoWrapperDtype, "docs/case-format.md", kSeqlensK},
    {&kNoWrapperDtype, "docs/case-format.md", kBlockTable},
    {&kNoWrapperDtype, "docs/case-format.md", kMmPrefixRanges},
    {&kNoWrapperStride, "docs/case-format.md", kQ},
    {&kNoWrapperStride, "docs/case-format.md", kK},
    {&kNoWrapperStride, "docs/case-format.md", kV},
    {&kNoWrapperStride, "docs/case-format.md", kSeqlensQ},
    {&kNoWrapperStride, "docs/case-format.md", kSeqlensK},
    {&kNoWrapperStride, "docs/case-format.md", kBlockTable},
    {&kNoWrapperStride, "docs/case-format.md", kMmPrefixRanges},
    {&kNoWrapperShape, "docs/case-format.md", kK},
    {&kNoWrapperShape, "docs/case-format.md", kV},
    {&kNoWrapperShape, "docs/case-format.md", kSeqlensQ},
    {&kNoWrapperShape, "docs/case-format.md", kSeqlensK},
    {&kNoWrapperShape, "docs/case-format.md", kBlockTable},
    {&kNoWrapperShape, "docs/case-format.md", kMmPrefixRanges},
    {&kNoWrapperHeadDim, "docs/case-format.md"},
    {&kNoWrapperHeads, "docs/case-format.md"},
    {&kNoWrapperPageBlockSize, "docs/case-format.md"},
};

constexpr auto kV2 = Wrapper::kCandleFlashAttn;
constexpr auto kV3 = Wrapper::kCandleFlashAttnV3;
constexpr auto kNone = Wrapper::kNone;

// wrapper, CustomOp3::name(), its name in most messages, varlen, paged, checks
constexpr Op kV2FixedOp{kV2, "flash-attn", "flash-attn", false, false, kV2Fixed};
constexpr Op kV2FlatOp{kV2, "flash-attn-varlen", "flash-attn", true, false, kV2Flat};
constexpr Op kV2PagedOp{kV2, "flash-attn-varlen", "flash-attn", true, true, kV2Paged};
constexpr Op kV3FixedOp{kV3, "flash-attn-v3", "flash-attn-v3", false, false, kV3Fixed};
constexpr Op kV3VarlenOp{kV3, "flash-attn-v3-varlen", "flash-attn-v3", true, false, kV3Varlen};
constexpr Op kNoWrapperFixedOp{kNone, "none", "none", false, false, kNoWrapperFixed};
constexpr Op kNoWrapperFlatOp{kNone, "none", "none", true, false, kNoWrapperFlat};
constexpr Op kNoWrapperPagedOp{kNone, "none", "none", true, true, kNoWrapperPaged};

}  // namespace

const Op& op_of(const WrapperFunction& function) {
  switch (function.wrapper) {
    case Wrapper::kCandleFlashAttn:
      if (!function.varlen) return kV2FixedOp;
      return function.paged ? kV2PagedOp : kV2FlatOp;
    case Wrapper::kCandleFlashAttnV3:
      return function.varlen ? kV3VarlenOp : kV3FixedOp;
    case Wrapper::kNone:
      break;
  }
  if (!function.varlen) return kNoWrapperFixedOp;
  return function.paged ? kNoWrapperPagedOp : kNoWrapperFlatOp;
}

}  // namespace flashcheck
