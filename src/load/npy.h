#pragma once

#include <cstdint>
#include <string_view>

#include "src/load/value_file.h"

namespace flashcheck {

/// The largest header that is read: all that format version 1.0 can say. Longer ones describe
/// structured arrays.
inline constexpr int64_t kMaxNpyHeaderBytes = 65'535;
/// As many bytes of a file as parse_npy may need.
inline constexpr int64_t kMaxNpyHeadBytes = 12 + kMaxNpyHeaderBytes;

/// Reads the header of a .npy file of `file_bytes` bytes (numpy/lib/format.py), versions 1.0
/// to 3.0. `head` holds its beginning. Numpy has no bf16 and no f8: two bytes of no type (V2, as
/// ml_dtypes saves bf16) or of u2 are bf16, one byte of V1 or u1 is f8e4m3, if the case says so.
ValueFiles::Found parse_npy(std::string_view head, int64_t file_bytes);

}  // namespace flashcheck
