#include "src/spec/case.h"

namespace flashcheck {
namespace {

constexpr std::array<std::string_view, kNumTensors> kTensorNames{
    "q",   "k",  "v", "seqlens_q", "seqlens_k", "block_table", "mm_prefix_ranges", "alibi_slopes",
    "out", "lse"};

}  // namespace

std::string_view name_of(TensorName name) { return kTensorNames[static_cast<size_t>(name)]; }

std::optional<TensorName> parse_tensor_name(std::string_view name) {
  for (size_t i = 0; i < kTensorNames.size(); ++i) {
    if (kTensorNames[i] == name) return static_cast<TensorName>(i);
  }
  return std::nullopt;
}

}  // namespace flashcheck
