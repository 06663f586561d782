#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>
#include <string>
#include <utility>

#include "src/hazards/families.h"
#include "src/hazards/kernel_mask.h"
#include "src/hazards/tile_sizes.h"

namespace flashcheck {
namespace {

using std::to_string;

constexpr std::array kData{TensorName::kQ, TensorName::kK, TensorName::kV};

bool is_empty(const TensorSpec& tensor) { return tensor.num_elements() == 0; }

void check_offset_alignment(const HazardContext& context, const Rule& rule,
                            const EmitHazard& emit) {
  for (const TensorName name : kData) {
    const TensorSpec& tensor = context.c.at(name);
    if (is_empty(tensor) || tensor.offset % 8 == 0) continue;
    const int64_t below = tensor.offset / 8 * 8;
    Finding finding =
        make_finding(rule, fmt::format("/tensors/{}/offset", name_of(name)),
                     {{"tensor", std::string(name_of(name))},
                      {"offset", to_string(tensor.offset)},
                      {"bytes", to_string(tensor.offset * size_in_bytes(tensor.dtype))}});
    finding.fix = fmt::format(
        "start the view at element {} or {}, or copy it with {}.force_contiguous() (contiguous() "
        "keeps the offset of a view that is contiguous)",
        below, below + 8, name_of(name));
    emit(std::move(finding));
  }
}

/// Whether the kernel uses an index over 0 on a dim of more than one element: for pages, by what
/// the table says.
bool moves_along(const HazardContext& context, TensorName name, size_t dim) {
  const bool is_pages = context.c.function->paged && name != TensorName::kQ && dim == 0;
  if (!is_pages || !context.sequences || !context.block_table) return true;
  const int64_t page = context.launch.page_block_size;
  if (page == 0) return false;
  const int64_t columns = context.c.at(TensorName::kBlockTable).shape[1];
  bool moves = false;
  for_each_sequence(context, [&](int64_t b, const LaunchedSequence&) {
    for (const KeySpan& span : loaded_keys(context, b)) {
      const int64_t end = std::min(columns, ceil_div(span.end, page));
      for (int64_t entry = span.begin / page; entry < end && !moves; ++entry) {
        moves = context.launched_page(b, entry).value_or(0) != 0;
      }
    }
  });
  return moves;
}

void check_stride_alignment(const HazardContext& context, const Rule& rule,
                            const EmitHazard& emit) {
  for (const TensorName name : kData) {
    const TensorSpec& tensor = context.c.at(name);
    if (is_empty(tensor)) continue;
    for (size_t dim = 0; dim + 1 < tensor.shape.size(); ++dim) {
      if (tensor.shape[dim] < 2 || tensor.strides[dim] % 8 == 0) continue;
      if (!moves_along(context, name, dim)) continue;
      Finding finding =
          make_finding(rule, fmt::format("/tensors/{}/strides/{}", name_of(name), dim),
                       {{"tensor", std::string(name_of(name))},
                        {"dim", to_string(dim)},
                        {"stride", to_string(tensor.strides[dim])},
                        {"bytes", to_string(tensor.strides[dim] * size_in_bytes(tensor.dtype))}});
      finding.fix = fmt::format("pad the rows so that the stride is {}, or pass {}.contiguous()",
                                (tensor.strides[dim] / 8 + 1) * 8, name_of(name));
      emit(std::move(finding));
    }
  }
}

/// "0 + (4-1)*8192 + (64-1)*1": where the last element of a view is.
std::string last_element_sum(const TensorSpec& tensor) {
  std::string sum = to_string(tensor.offset);
  for (size_t i = 0; i < tensor.shape.size(); ++i) {
    if (tensor.shape[i] > 1) sum += fmt::format(" + ({}-1)*{}", tensor.shape[i], tensor.strides[i]);
  }
  return sum;
}

void check_extent(const HazardContext& context, const Rule& rule, const EmitHazard& emit) {
  const Case& c = context.c;
  for (int i = 0; i < kNumTensors; ++i) {
    const TensorName name = static_cast<TensorName>(i);
    const TensorSpec* tensor = c.find(name);
    if (!tensor) continue;
    const int64_t span = *tensor->span();
    const int64_t elements = c.storage_elements(*tensor);
    if (span == 0 || tensor->offset + span <= elements) continue;
    const int64_t last = tensor->offset + span - 1;
    Finding finding = make_finding(rule, fmt::format("/tensors/{}", name_of(name)),
                                   {{"tensor", std::string(name_of(name))},
                                    {"last", to_string(last)},
                                    {"elements", to_string(elements)}});
    finding.details.push_back(fmt::format("last element {} = {}", last_element_sum(*tensor), last));
    finding.fix = fmt::format(
        "give {}'s storage at least {} elements, or correct the shape, the strides or the offset "
        "(row-major, its shape takes {} elements)",
        name_of(name), last + 1, *tensor->num_elements());
    emit(std::move(finding));
  }
}

void check_stride_width(const HazardContext& context, const Rule& rule, const EmitHazard& emit) {
  const auto check = [&](TensorName name, size_t dim) {
    const TensorSpec& tensor = context.c.at(name);
    const int64_t stride = tensor.strides[dim];
    const int64_t used = static_cast<int64_t>(static_cast<uint32_t>(stride));
    if (stride == used || tensor.shape[dim] < 2 || is_empty(tensor)) return;
    Finding finding = make_finding(rule, fmt::format("/tensors/{}/strides/{}", name_of(name), dim),
                                   {{"tensor", std::string(name_of(name))},
                                    {"dim", to_string(dim)},
                                    {"stride", to_string(stride)},
                                    {"used", to_string(used)}});
    finding.details.push_back(fmt::format(
        "index 1 of dim {} is read at element {} of the view, not at {}", dim, used, stride));
    emit(std::move(finding));
  };
  for (const TensorName name : kData) {
    for (size_t dim = 0; dim + 1 < context.c.at(name).shape.size(); ++dim) check(name, dim);
  }
  if (context.c.find(TensorName::kMmPrefixRanges)) check(TensorName::kMmPrefixRanges, 0);
}

void check_size_width(const HazardContext& context, const Rule& rule, const EmitHazard& emit) {
  constexpr int64_t kMax = std::numeric_limits<int32_t>::max();
  const auto check = [&](std::string_view what, std::string where, int64_t size) {
    if (size <= kMax) return;
    const int32_t used = static_cast<int32_t>(static_cast<uint32_t>(size));
    emit(make_finding(
        rule, std::move(where),
        {{"what", std::string(what)}, {"size", to_string(size)}, {"used", to_string(used)}}));
  };
  const Case& c = context.c;
  const size_t head_axis = c.q().shape.size() - 2;
  if (c.function->varlen) {
    check("the number of q's rows", "/tensors/q/shape/0", c.q().shape[0]);
    check("max_seqlen_q", "/args/max_seqlen_q", c.args.max_seqlen_q);
    check("max_seqlen_k", "/args/max_seqlen_k", c.args.max_seqlen_k);
  } else {
    check("the batch", "/tensors/q/shape/0", c.q().shape[0]);
    check("seqlen_q", "/tensors/q/shape/1", c.q().shape[1]);
    check("seqlen_k", "/tensors/k/shape/1", c.k().shape[1]);
  }
  check("the number of heads", fmt::format("/tensors/q/shape/{}", head_axis),
        c.q().shape[head_axis]);
}

constexpr HazardRule kRules[] = {
    {.rule = {.code = "FC-H101",
              .name = "offset-not-aligned",
              .severity = Severity::kError,
              .message = "{tensor} starts at element {offset}, byte {bytes}: not a multiple of 8 "
                         "elements (16 bytes)",
              .why = "The kernel copies 16 bytes at a time from base + offset. A misaligned copy "
                     "is a device fault that some later call reports, and the context is lost.",
              .fix = "Start the view at a multiple of 8 elements, or copy it.",
              .source = "kernels/kernel_traits.h:111, 125-133; candle-flash-attn/src/lib.rs:41-43"},
     .kind = HazardKind::kFault,
     .callees = kV2,
     .check = check_offset_alignment},
    {.rule = {.code = "FC-H102",
              .name = "stride-not-aligned",
              .severity = Severity::kError,
              .message = "{tensor}: the stride of dim {dim} is {stride} elements, {bytes} bytes: "
                         "not a multiple of 8 elements (16 bytes)",
              .why = "The kernel copies 16 bytes at a time from offset + index * stride. Every "
                     "odd index is a misaligned copy: a device fault that some later call reports.",
              .fix = "Pad the rows to a multiple of 8 elements, or make the tensor contiguous.",
              .source = "kernels/flash_fwd_kernel.h:171-188, 629-652"},
     .kind = HazardKind::kFault,
     .callees = kV2,
     .check = check_stride_alignment},
    {.rule = {.code = "FC-H103",
              .name = "view-exceeds-storage",
              .severity = Severity::kError,
              .message = "{tensor}: its last element is number {last} of a storage of {elements}",
              .why = "The wrapper compares only the start offset with the storage's length; shape "
                     "and strides are taken as they are, so the kernel reads past the allocation.",
              .fix = "Correct the shape, the strides or the offset, or enlarge the storage.",
              .source = "candle-flash-attn/src/lib.rs:41-43, 523-525"},
     .kind = HazardKind::kOutOfBoundsRead,
     .callees = kAll,
     .check = check_extent},
    {.rule = {.code = "FC-H104",
              .name = "stride-cut-to-32-bits",
              .severity = Severity::kError,
              .message =
                  "{tensor}: the stride of dim {dim} is {stride}, and the kernel uses {used}",
              .why = "Strides are cast to 32 bits on the way to the kernel: from 2^32 elements on, "
                     "the high bits are lost and rows of another place are read.",
              .fix = "Keep strides below 4294967296 elements: split the allocation, or make the "
                     "tensor contiguous.",
              .source = "candle-flash-attn/src/lib.rs:178-190, 780-791; "
                        "candle-flash-attn-v3/src/lib.rs:203-215, 649-660"},
     .kind = HazardKind::kWrong,
     .callees = kAll,
     .check = check_stride_width},
    {.rule = {.code = "FC-H105",
              .name = "size-over-31-bits",
              .severity = Severity::kError,
              .message = "{what} is {size}, and the kernel takes it for {used}",
              .why = "Sizes are passed as u32 and kept in an int: from 2^31 on they are negative.",
              .fix = "Keep lengths, heads and maximum lengths at 2147483647 or below; max_seqlen_q "
                     "and max_seqlen_k are the longest lengths, not a capacity.",
              .source = "kernels/flash.h:37, 64; candle-flash-attn/src/lib.rs:128, 157, 160, 698"},
     .kind = HazardKind::kWrong,
     .callees = kAll,
     .check = check_size_width},
};

}  // namespace

std::span<const HazardRule> address_hazards() { return kRules; }

}  // namespace flashcheck
