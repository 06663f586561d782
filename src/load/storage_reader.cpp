#include "src/load/storage_reader.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <string>

#include "src/load/case_file_rules.h"
#include "src/load/case_keys.h"
#include "src/load/json_reader.h"
#include "src/load/tensor_reader.h"
#include "src/spec/checked.h"

namespace flashcheck {

void StorageReader::read_declared(const JsonValue& object) {
  if (!expect_object(object, complaints_)) return;
  for (const JsonValue* member : object.children) {
    if (!expect_id(*member, member->key, complaints_)) continue;
    if (!expect_object(*member, complaints_)) continue;
    expect_keys(*member, kStorageKeys, complaints_);
    const JsonValue* elements = require(*member, "elements", complaints_);
    const auto count = elements ? read_usize(*elements, complaints_) : std::nullopt;
    declared_.push_back({member->key, count.value_or(0)});
  }
}

void StorageReader::assign(const JsonValue& object, TensorName name, const CacheLayout* layout,
                           TensorSpec& tensor) {
  const JsonValue* given = find_given(object, "storage");
  if (given && given->is_string()) {
    if (Declared* declared = find_declared(*given)) share(*declared, *given, tensor);
    return;
  }
  int64_t elements = layout ? layout->view.elements : elements_needed(tensor);
  if (given) {
    if (!given->is_number()) {
      complaints_.add(complaint::kWrongType, *given,
                      "the name of an entry of `storages`, or a number of elements",
                      describe(*given, complaints_.text()));
      return;
    }
    const std::optional<int64_t> count = read_usize(*given, complaints_);
    if (!count) return;
    elements = *count;
  }
  if (!expect_addressable(elements, tensor, given ? *given : object)) return;
  if (layout && layout->has_one_tensor && !given) {
    share_cache(elements, tensor);
  } else {
    own(name, elements, tensor);
  }
}

void StorageReader::own(TensorName name, int64_t elements, TensorSpec& tensor) {
  tensor.storage = static_cast<int64_t>(c_.storages.size());
  c_.storages.push_back({std::string(name_of(name)), elements});
}

StorageReader::Declared* StorageReader::find_declared(const JsonValue& name) {
  const auto found = std::find_if(declared_.begin(), declared_.end(),
                                  [&](const Declared& d) { return d.name == name.text; });
  if (found != declared_.end()) return &*found;
  std::vector<std::string_view> known;
  for (const Declared& declared : declared_) known.push_back(declared.name);
  complaints_.add(complaint::kUnknownStorage, name,
                  known.empty()
                      ? "an entry of `storages`, which has none"
                      : fmt::format("an entry of `storages` ({})", fmt::join(known, ", ")),
                  in_quotes(name.text));
  return nullptr;
}

void StorageReader::share(Declared& declared, const JsonValue& at, TensorSpec& tensor) {
  if (!expect_addressable(declared.elements, tensor, at)) return;
  if (!declared.index) {
    declared.index = static_cast<int64_t>(c_.storages.size());
    c_.storages.push_back({std::string(declared.name), declared.elements});
  }
  tensor.storage = *declared.index;
}

/// k and v are in one storage, which is as large as the larger of their layouts.
void StorageReader::share_cache(int64_t elements, TensorSpec& tensor) {
  if (!cache_) {
    cache_ = static_cast<int64_t>(c_.storages.size());
    c_.storages.push_back({"kv", 0});
  }
  int64_t& size = c_.storages[static_cast<size_t>(*cache_)].elements;
  size = std::max(size, elements);
  tensor.storage = *cache_;
}

bool StorageReader::expect_addressable(int64_t elements, const TensorSpec& tensor,
                                       const JsonValue& at) {
  if (checked_mul(elements, size_in_bytes(tensor.dtype))) return true;
  complaints_.add(complaint::kSizeOverflows, at, "a storage of at most 9223372036854775807 bytes",
                  fmt::format("{} elements of {}", elements, name_of(tensor.dtype)));
  return false;
}

}  // namespace flashcheck
