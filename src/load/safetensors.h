#pragma once

#include <cstdint>
#include <string_view>
#include <variant>

#include "src/load/value_file.h"

namespace flashcheck {

/// The largest header that the format allows.
inline constexpr int64_t kMaxSafetensorsHeaderBytes = 100'000'000;

/// The header's length, which the first eight bytes of a file say; a problem if it cannot be so.
std::variant<int64_t, ValueFileProblem> safetensors_header_bytes(std::string_view head,
                                                                 int64_t file_bytes);

/// Reads the header of a .safetensors file of `file_bytes` bytes
/// (github.com/huggingface/safetensors, "Format"): eight bytes with the header's length, the
/// header, the elements. `head` holds the file's beginning, at least to the end of the header. The
/// entries must cover the rest of the file without holes or overlaps.
ValueFiles::Found parse_safetensors(std::string_view head, int64_t file_bytes);

}  // namespace flashcheck
