#pragma once

#include <span>

#include "src/spec/finding.h"

namespace flashcheck {

extern const Rule kNotEnoughMemory;  // {storage} {bytes}
extern const Rule kFileUnreadable;   // {path} {reason}
extern const Rule kFileTruncated;    // {path} {tensor} {needed} {begin} {found}
extern const Rule kValueDoesNotFit;  // {tensor} {value} {dtype} {index}
extern const Rule kTooManyElements;  // {tensor} {elements} {limit}

/// The FC-X rules of make_inputs, ascending.
std::span<const Rule* const> input_rules();

}  // namespace flashcheck
