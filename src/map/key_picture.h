#pragma once

#include <string>
#include <vector>

#include "src/map/kv_map.h"

namespace flashcheck {

/// A line a row: its number, the keys it sees in numbers, and a picture of all its keys in at most
/// `width` columns altogether: '#' every key of the column is seen, '+' some, '.' none.
/// Precondition: the sequence has rows and keys.
std::vector<std::string> key_picture(const MappedSequence& sequence, int width);

}  // namespace flashcheck
