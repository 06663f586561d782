#pragma once

#include <cstdint>

#include "src/spec/case.h"

namespace flashcheck {

/// A small call of one of the functions, drawn by its number: storages exactly as large as the
/// views need, or a little short or long; views padded, transposed, broadcast or shared; lengths,
/// tables, ranges and windows that are mostly right and sometimes not. The same number is the same
/// call.
Case random_call(uint64_t number);

}  // namespace flashcheck
