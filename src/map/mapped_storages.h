#pragma once

#include <vector>

#include "src/map/kv_map.h"
#include "src/spec/case.h"

namespace flashcheck {

/// The storages in which several tensors lie, or that a tensor leaves, in order of the case's.
std::vector<MappedStorage> mapped_storages(const Case& c);

}  // namespace flashcheck
