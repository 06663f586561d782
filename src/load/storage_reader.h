#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "src/load/complaints.h"
#include "src/load/json_value.h"
#include "src/load/layout_reader.h"
#include "src/spec/case.h"

namespace flashcheck {

/// Gives each tensor of a case its storage: a declared one, that of a cache which k and v share, or
/// one of its own. Storages that no tensor views are left out of the case.
class StorageReader {
 public:
  StorageReader(Case& c, Complaints& complaints) : c_(c), complaints_(complaints) {}

  /// Reads `storages`.
  void read_declared(const JsonValue& object);
  /// Reads a tensor's `storage`. `layout`, if not null, is the tensor's: without a `storage` the
  /// tensor needs its whole cache.
  void assign(const JsonValue& object, TensorName name, const CacheLayout* layout,
              TensorSpec& tensor);
  /// A storage of the tensor's own.
  void own(TensorName name, int64_t elements, TensorSpec& tensor);

 private:
  struct Declared {
    std::string_view name;
    int64_t elements;
    std::optional<int64_t> index = std::nullopt;  // into Case::storages, once a tensor views it
  };

  Declared* find_declared(const JsonValue& name);
  void share(Declared& declared, const JsonValue& at, TensorSpec& tensor);
  void share_cache(int64_t elements, TensorSpec& tensor);
  bool expect_addressable(int64_t elements, const TensorSpec& tensor, const JsonValue& at);

  Case& c_;
  Complaints& complaints_;
  std::vector<Declared> declared_;
  std::optional<int64_t> cache_;  // into Case::storages: that of k and v whose layout is one tensor
};

}  // namespace flashcheck
