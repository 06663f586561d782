#pragma once

#include "src/contract/contract_rule.h"

namespace flashcheck {

// Each is defined, with its words, in the file of its family.

// device_rules.cpp
extern const ContractRule kDeviceMismatch;
extern const ContractRule kNoCpuSupport;
extern const ContractRule kNoMetalSupport;
extern const ContractRule kNotACudaTensor;

// dtype_rules.cpp
extern const ContractRule kQueryDtypeUnsupported;
extern const ContractRule kSeqlensNotU32;
extern const ContractRule kDtypeDiffersFromQuery;
extern const ContractRule kBlockTableNotInteger;
extern const ContractRule kPrefixRangesNotI32;

// rank_rules.cpp
extern const ContractRule kFixedRankNot4;
extern const ContractRule kVarlenRankNot3;
extern const ContractRule kPagedKvRankNot4;
extern const ContractRule kSmallTensorRank;

// stride_rules.cpp
extern const ContractRule kLastDimNotContiguous;
extern const ContractRule kSeqlensNotContiguous;
extern const ContractRule kTableLastDimNotContiguous;

// shape_rules.cpp
extern const ContractRule kQueryAndKeyShapesDisagree;
extern const ContractRule kQueryAndValueShapesDisagree;
extern const ContractRule kKeyAndValueShapesDisagree;

// head_rules.cpp
extern const ContractRule kHeadDimOver512;
extern const ContractRule kPagedHeadDimOver512;
extern const ContractRule kHeadDimNotInV3;
extern const ContractRule kHeadDimNotMultipleOf8;
extern const ContractRule kKvHeadsDoNotDivide;
extern const ContractRule kNoKvHeads;

// paging_rules.cpp
extern const ContractRule kPageBlockSizeDiffersFromKeys;
extern const ContractRule kPageBlockSizeNotMultipleOf32;

// sequence_rules.cpp
extern const ContractRule kSeqlensTooShort;
extern const ContractRule kSeqlensLengthsDiffer;
extern const ContractRule kPrefixRangesShape;

// alibi_rules.cpp
extern const ContractRule kAlibiSlopesNotF32;
extern const ContractRule kAlibiSlopesLength;

// storage_rules.cpp
extern const ContractRule kOffsetPastStorage;
extern const ContractRule kSeqlensPastStorage;

// no_wrapper_rules.cpp
extern const ContractRule kNoWrapperRank;
extern const ContractRule kNoWrapperDtype;
extern const ContractRule kNoWrapperStride;
extern const ContractRule kNoWrapperShape;
extern const ContractRule kNoWrapperHeadDim;
extern const ContractRule kNoWrapperHeads;
extern const ContractRule kNoWrapperPageBlockSize;

}  // namespace flashcheck
