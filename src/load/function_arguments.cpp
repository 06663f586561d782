#include "src/load/function_arguments.h"

#include <vector>

#include "src/load/case_keys.h"
#include "src/load/listed.h"

namespace flashcheck {
namespace {

Presence required_if(bool condition) { return condition ? Presence::kRequired : Presence::kAbsent; }
Presence optional_if(bool condition) { return condition ? Presence::kOptional : Presence::kAbsent; }

}  // namespace

Presence presence_of(const WrapperFunction& function, TensorName tensor) {
  switch (tensor) {
    case TensorName::kQ:
    case TensorName::kK:
    case TensorName::kV:
      return Presence::kRequired;
    case TensorName::kSeqlensQ:
    case TensorName::kSeqlensK:
      return required_if(function.varlen);
    case TensorName::kBlockTable:
      return required_if(function.paged);
    case TensorName::kMmPrefixRanges:
      return optional_if(function.paged);
    case TensorName::kAlibiSlopes:
      return function.alibi;
    case TensorName::kOut:
    case TensorName::kLse:
      return Presence::kOptional;
  }
  return Presence::kAbsent;
}

Presence presence_of(const WrapperFunction& function, ArgName arg) {
  switch (arg) {
    case ArgName::kSoftmaxScale:
      return Presence::kRequired;
    case ArgName::kCausal:
      return required_if(!function.windowed);
    case ArgName::kWindowSizeLeft:
    case ArgName::kWindowSizeRight:
      return optional_if(function.windowed);
    case ArgName::kMaxSeqlenQ:
    case ArgName::kMaxSeqlenK:
      return required_if(function.varlen);
    case ArgName::kPageBlockSize:
      return required_if(function.paged);
    case ArgName::kSoftcap:
      return function.softcap;
    case ArgName::kUseGqaPacking:
      return required_if(function.has_gqa_packing);
  }
  return Presence::kAbsent;
}

std::string tensors_of(const WrapperFunction& function) {
  std::vector<std::string_view> taken;
  for (int i = 0; i < kNumTensors; ++i) {
    const auto tensor = static_cast<TensorName>(i);
    if (presence_of(function, tensor) != Presence::kAbsent) taken.push_back(name_of(tensor));
  }
  return listed(taken);
}

std::string args_of(const WrapperFunction& function) {
  std::vector<std::string_view> taken;
  for (size_t i = 0; i < kArgKeys.size(); ++i) {
    if (presence_of(function, static_cast<ArgName>(i)) != Presence::kAbsent) {
      taken.push_back(kArgKeys[i]);
    }
  }
  return listed(taken);
}

}  // namespace flashcheck
