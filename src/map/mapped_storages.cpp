#include "src/map/mapped_storages.h"

#include <algorithm>

#include "src/spec/checked.h"

namespace flashcheck {
namespace {

std::optional<ByteRuns> bytes_of(const TensorSpec& tensor) {
  const int64_t bytes = size_in_bytes(tensor.dtype);
  const std::optional<int64_t> begin = checked_mul(tensor.offset, bytes);
  std::vector<ByteLoop> loops;
  for (size_t dim = 0; dim < tensor.shape.size(); ++dim) {
    const std::optional<int64_t> stride = checked_mul(tensor.strides[dim], bytes);
    if (!stride) return std::nullopt;
    loops.push_back({tensor.shape[dim], *stride});
  }
  return begin ? byte_runs(*begin, bytes, std::move(loops)) : std::nullopt;
}

MappedStorage mapped_storage(const Case& c, int64_t index) {
  const StorageSpec& spec = c.storages[static_cast<size_t>(index)];
  MappedStorage storage{.name = spec.name};
  for (int i = 0; i < kNumTensors; ++i) {
    const TensorSpec* tensor = c.find(static_cast<TensorName>(i));
    if (!tensor || tensor->storage != index) continue;
    const std::optional<int64_t> size = checked_mul(spec.elements, size_in_bytes(tensor->dtype));
    storage.size_bytes = std::max(storage.size_bytes, size.value_or(0));
    const std::optional<int64_t> end = checked_add(tensor->offset, tensor->span().value_or(0));
    const bool is_inside = tensor->span() == 0 || (end && *end <= spec.elements);
    storage.views.push_back({static_cast<TensorName>(i), bytes_of(*tensor), !is_inside});
  }
  for (size_t a = 0; a < storage.views.size(); ++a) {
    for (size_t b = a + 1; b < storage.views.size(); ++b) {
      const StorageView& first = storage.views[a];
      const StorageView& second = storage.views[b];
      const Sharing sharing = first.bytes && second.bytes ? sharing_of(*first.bytes, *second.bytes)
                                                          : Sharing::kUnsettled;
      storage.pairs.push_back({first.tensor, second.tensor, sharing});
    }
  }
  return storage;
}

}  // namespace

std::vector<MappedStorage> mapped_storages(const Case& c) {
  std::vector<MappedStorage> storages;
  for (size_t i = 0; i < c.storages.size(); ++i) {
    MappedStorage storage = mapped_storage(c, static_cast<int64_t>(i));
    const bool leaves = std::any_of(storage.views.begin(), storage.views.end(),
                                    [](const StorageView& view) { return view.leaves_storage; });
    if (storage.views.size() > 1 || leaves) storages.push_back(std::move(storage));
  }
  return storages;
}

}  // namespace flashcheck
