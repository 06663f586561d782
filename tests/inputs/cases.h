#pragma once

#include <memory>
#include <utility>

#include "src/spec/case.h"

namespace flashcheck::testing {

/// A case with the tensors a test adds; every tensor has a storage of its own unless it shares one.
class CaseBuilder {
 public:
  CaseBuilder() {
    case_.function = find_function(Wrapper::kCandleFlashAttn, "flash_attn");
    for (const TensorName name : {TensorName::kQ, TensorName::kK, TensorName::kV}) {
      add(name, Dtype::kF16, {1, 2, 1, 8});
    }
  }
  TensorSpec& add(TensorName name, Dtype dtype, std::vector<int64_t> shape, Values values = {}) {
    TensorSpec tensor{.dtype = dtype, .shape = std::move(shape)};
    tensor.strides = *contiguous_strides(tensor.shape);
    tensor.storage = static_cast<int64_t>(case_.storages.size());
    tensor.values = std::make_shared<const Values>(std::move(values));
    case_.storages.push_back({std::string(name_of(name)), *tensor.span()});
    auto& place = case_.tensors[static_cast<size_t>(name)];
    place = std::move(tensor);
    return *place;
  }
  TensorSpec& tensor(TensorName name) { return *case_.tensors[static_cast<size_t>(name)]; }
  Case& get() { return case_; }

 private:
  Case case_;
};

}  // namespace flashcheck::testing
