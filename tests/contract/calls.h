#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "src/spec/case.h"

namespace flashcheck {

// Accepted calls to start from, one fault away from every check.

/// q [2, 4, 8, 64], k and v [2, 6, 2, 64], f16, cuda:0, each with a storage of its own size.
Case fixed_call(Wrapper wrapper = Wrapper::kCandleFlashAttn,
                std::string_view function = "flash_attn");
/// q [7, 8, 64], k and v [9, 2, 64]; seqlens [0, 3, 7] and [0, 4, 9].
Case varlen_call(Wrapper wrapper = Wrapper::kCandleFlashAttn,
                 std::string_view function = "flash_attn_varlen");
/// As varlen_call, but k and v [5, 32, 2, 64], block_table [2, 3], page_block_size 32.
Case paged_call(Wrapper wrapper = Wrapper::kCandleFlashAttn);

/// The fixed or varlen call of the alibi function, with eight slopes.
Case fixed_alibi_call(Wrapper wrapper = Wrapper::kCandleFlashAttn);
Case varlen_alibi_call(Wrapper wrapper = Wrapper::kCandleFlashAttn);
/// The paged call with mm_prefix_ranges [2, 1, 2].
Case paged_ranges_call();

/// Gives the call a row-major tensor with a storage of its own, just large enough.
void put(Case& c, TensorName name, Dtype dtype, std::vector<int64_t> shape);
TensorSpec& tensor(Case& c, TensorName name);
/// Row-major in a new shape, the storage just large enough.
void reshape(Case& c, TensorName name, std::vector<int64_t> shape);
/// Other strides over the same shape, the storage just large enough.
void restride(Case& c, TensorName name, std::vector<int64_t> strides);
void write_out(Case& c, TensorName name, std::vector<int64_t> values);

/// The call after a change: [](Case& c) { … }.
template <typename Change>
Case with(Case c, Change change) {
  change(c);
  return c;
}

inline constexpr Device kCpu{Device::Kind::kCpu, 0};
inline constexpr Device kOtherGpu{Device::Kind::kCuda, 1};

}  // namespace flashcheck
