#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "src/spec/arithmetic.h"
#include "src/spec/tensor_spec.h"
#include "src/spec/verdict.h"
#include "src/spec/wrapper_function.h"

namespace flashcheck {

/// The tensors of a call, named as the wrappers' arguments are; kOut and kLse are a dumped result.
enum class TensorName : uint8_t {
  kQ,
  kK,
  kV,
  kSeqlensQ,
  kSeqlensK,
  kBlockTable,
  kMmPrefixRanges,
  kAlibiSlopes,
  kOut,
  kLse
};
inline constexpr int kNumTensors = 10;
/// "q", "seqlens_q", …
std::string_view name_of(TensorName name);
std::optional<TensorName> parse_tensor_name(std::string_view name);

/// The scalar arguments of a call. Those that the function does not have keep their defaults.
struct CallArgs {
  float softmax_scale = 1;
  bool causal = false;
  std::optional<int64_t> window_size_left, window_size_right;  // nothing: Rust's None
  int64_t max_seqlen_q = 0, max_seqlen_k = 0;
  int64_t page_block_size = 0;
  std::optional<float> softcap;
  bool use_gqa_packing = false;
};

/// One parameter of a launch as a number, a flag, or a null pointer's absence.
using LaunchValue = std::variant<std::monostate, bool, int64_t, double>;
struct LaunchField {
  std::string name;
  LaunchValue value;
};

/// What a case demands of flashcheck's answer. All that is named must hold.
struct Expect {
  std::optional<Verdict> verdict;
  std::optional<std::string> error;                 // exact text
  std::optional<std::string> panic;                 // exact text
  std::optional<std::vector<std::string>> hazards;  // codes of severity warning or worse, exactly
  std::vector<LaunchField> launch;                  // some or all of launch_fields()
  std::optional<std::string> cause;                 // a code FC-Mnnn
};

/// Where a case stands.
struct CaseSource {
  std::string path;  // as given by the user; "-" is stdin
  int64_t line = 1;  // of the test (its line in a .jsonl, its object in a .json), 1-based
};

/// One call, as a file claims it: an untested value; the contract and the hazards judge it.
struct Case {
  std::string id;  // "stem" for a control or a question, "stem/test-id" for a test
  CaseSource source;
  std::string note;
  std::vector<std::string> refs;

  const WrapperFunction* function = nullptr;  // never null once loaded
  std::array<std::optional<TensorSpec>, kNumTensors> tensors;
  CallArgs args;
  std::vector<StorageSpec> storages;
  Arithmetic arithmetic;
  uint64_t seed = 0;
  std::optional<Expect> expect;  // nothing: a question

  const TensorSpec* find(TensorName name) const {
    const std::optional<TensorSpec>& tensor = tensors[static_cast<size_t>(name)];
    return tensor ? &*tensor : nullptr;
  }
  /// Precondition: the tensor is there. The loader guarantees q, k, v, and all that the function
  /// requires.
  const TensorSpec& at(TensorName name) const { return *tensors[static_cast<size_t>(name)]; }
  const TensorSpec& q() const { return at(TensorName::kQ); }
  const TensorSpec& k() const { return at(TensorName::kK); }
  const TensorSpec& v() const { return at(TensorName::kV); }
  int64_t storage_elements(const TensorSpec& tensor) const {
    return storages[static_cast<size_t>(tensor.storage)].elements;
  }
};

}  // namespace flashcheck
