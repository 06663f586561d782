#pragma once

#include <string>

#include "src/map/kv_map.h"

namespace flashcheck {

/// A map in words and pictures, laid out for `width` columns: a MAP line a sequence, then bytes,
/// shared and unused pages, storages, what each query row sees, and what could not be drawn.
std::string map_text(const KvMap& map, int width);

}  // namespace flashcheck
