#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <string>

#include "src/hazards/data_rows.h"
#include "src/hazards/families.h"
#include "src/hazards/kernel_mask.h"
#include "src/hazards/tile_sizes.h"

namespace flashcheck {
namespace {

using std::to_string;

void check_window(const HazardContext& context, const Rule& rule, const EmitHazard& emit) {
  const WindowMask declared = declared_mask(context.c);
  const WindowMask used = kernel_mask(context);
  const bool matters = context.sequences
                           ? std::any_of(context.sequences->begin(), context.sequences->end(),
                                         [&](const LaunchedSequence& s) {
                                           return left_differs(declared, used, s) ||
                                                  right_differs(declared, used, s);
                                         })
                           : drops_window(context);
  if (!matters) return;
  const auto text = [](std::optional<int64_t> side) {
    return side ? to_string(*side) : std::string("None");
  };
  Finding finding = make_finding(
      rule, declared.left ? "/args/window_size_left" : "/args/window_size_right",
      {{"left", text(declared.left)},
       {"right", text(declared.right)},
       {"used", used.right ? "causal, without a limit to the left" : "full, in both directions"}});
  if (declared.right == 0 && !used.right) {
    finding.details.push_back(
        fmt::format("the causal limit goes with it; with a left window over {} (the key length it "
                    "is compared with) the same call is causal",
                    context.launch.seqlen_k));
  }
  if (declared.right == 0) {
    finding.fix =
        "pass window_size_left None for causal attention, or use candle-flash-attn for the window";
  }
  emit(std::move(finding));
}

void check_slopes(const HazardContext& context, const Rule& rule, const EmitHazard& emit) {
  if (context.c.find(TensorName::kAlibiSlopes)) {
    emit(make_finding(rule, "/tensors/alibi_slopes", {}));
  }
}

void check_head_dim(const HazardContext& context, const Rule& rule, const EmitHazard& emit) {
  if (context.launch.d == 512) emit(make_finding(rule, "/tensors/q/shape", {}));
}

void check_descriptors(const HazardContext& context, const Rule& rule, const EmitHazard& emit) {
  constexpr int64_t kMaxStrideBytes = int64_t{1} << 40;
  for (const TensorName name : {TensorName::kQ, TensorName::kK, TensorName::kV}) {
    const TensorSpec& tensor = context.c.at(name);
    const int64_t bytes = size_in_bytes(tensor.dtype);
    const auto report = [&](std::string member, std::string what) {
      Finding finding =
          make_finding(rule, fmt::format("/tensors/{}/{}", name_of(name), member),
                       {{"tensor", std::string(name_of(name))}, {"what", std::move(what)}});
      finding.fix = fmt::format("copy it: {}.force_contiguous()", name_of(name));
      emit(std::move(finding));
    };
    if (tensor.offset * bytes % 16 != 0) {
      report("offset", fmt::format("its start, element {}, is at byte {}, no multiple of 16",
                                   tensor.offset, tensor.offset * bytes));
    }
    for (size_t dim = 0; dim + 1 < tensor.shape.size(); ++dim) {
      const int64_t used = static_cast<int64_t>(static_cast<uint32_t>(tensor.strides[dim])) * bytes;
      if (used % 16 == 0 && used < kMaxStrideBytes) continue;
      report(fmt::format("strides/{}", dim),
             fmt::format(
                 "dim {} (of size {}) has a stride of {} elements, {} bytes, no multiple of 16",
                 dim, tensor.shape[dim], tensor.strides[dim], used));
    }
  }
}

void check_sizes(const HazardContext& context, const Rule& rule, const EmitHazard& emit) {
  const auto check = [&](const char* what, const char* where, int64_t size) {
    if (size == 0) emit(make_finding(rule, where, {{"what", what}}));
  };
  const Case& c = context.c;
  if (c.function->varlen) {
    check("the number of q's rows", "/tensors/q/shape/0", c.q().shape[0]);
    check("the number of k's rows", "/tensors/k/shape/0", c.k().shape[0]);
    check("max_seqlen_q", "/args/max_seqlen_q", c.args.max_seqlen_q);
    check("the number of heads", "/tensors/q/shape/1", c.q().shape[1]);
  } else {
    check("the batch", "/tensors/q/shape/0", c.q().shape[0]);
    check("seqlen_q", "/tensors/q/shape/1", c.q().shape[1]);
    check("seqlen_k", "/tensors/k/shape/1", c.k().shape[1]);
    check("the number of heads", "/tensors/q/shape/2", c.q().shape[2]);
  }
}

void check_grid_rows(const HazardContext& context, const Rule& rule, const EmitHazard& emit) {
  const int64_t maximum = context.launch.seqlen_q;
  if (!context.c.function->varlen || maximum == 0) return;
  const int64_t tile = tile_sizes(*context.c.function, context.launch).min_query_rows;
  const int64_t covered = round_up(maximum, tile);
  int64_t longest = 0;
  for_each_sequence(context, [&](int64_t, const LaunchedSequence& s) {
    longest = std::max(longest, s.seqlen_q());
  });
  for_each_sequence(context, [&](int64_t b, const LaunchedSequence& s) {
    if (s.seqlen_q() <= covered) return;
    Finding finding = make_finding(rule, "/args/max_seqlen_q",
                                   {{"sequence", to_string(b)},
                                    {"first", to_string(covered)},
                                    {"last", to_string(s.seqlen_q() - 1)},
                                    {"max_seqlen_q", to_string(maximum)},
                                    {"tile", to_string(tile)}});
    finding.fix = fmt::format("pass max_seqlen_q = {}, the longest query", longest);
    emit(std::move(finding));
  });
}

void check_neighbours(const HazardContext& context, const Rule& rule, const EmitHazard& emit) {
  if (!context.c.function->varlen) return;
  const int64_t tile = tile_sizes(*context.c.function, context.launch).key_rows;
  const auto is_not_finite = [](double value) { return !std::isfinite(value); };
  for (const DataRow& row : rows_with(context.c.v(), is_not_finite)) {
    for_each_sequence(context, [&](int64_t b, const LaunchedSequence& s) {
      if (s.seqlen_q() <= 0 || s.seqlen_k() <= 0) return;
      const int64_t tile_end = s.k_begin + round_up(s.seqlen_k(), tile);
      if (row.row < s.k_end || row.row >= tile_end) return;
      emit(make_finding(rule, "/tensors/v/values",
                        {{"sequence", to_string(b)},
                         {"value", fmt::format("{}", row.value)},
                         {"row", to_string(row.row)},
                         {"past", to_string(row.row - s.k_end + 1)},
                         {"tile", to_string(tile)}}));
    });
  }
}

void check_varlen_grid(const HazardContext& context, const Rule& rule, const EmitHazard& emit) {
  if (!context.c.function->varlen) return;
  const auto check = [&](const char* what, const char* where, int64_t size) {
    if (size <= 65535) return;
    emit(make_finding(rule, where, {{"what", what}, {"size", to_string(size)}}));
  };
  check("sequences", "/tensors/seqlens_q/shape/0", context.launch.b);
  check("query heads", "/tensors/q/shape/1", context.launch.h);
}

void check_packing(const HazardContext& context, const Rule& rule, const EmitHazard& emit) {
  const bool is_varlen = context.c.function->varlen;
  if (!context.c.args.use_gqa_packing || (context.launch.use_gqa_packing && !is_varlen)) return;
  emit(make_finding(
      rule, "/args/use_gqa_packing",
      {{"reason", is_varlen ? std::string("a varlen call never packs")
                            : fmt::format("{} query heads on {} k/v heads are {} a group, and "
                                          "only 2, 4, 8, 16 and 32 pack",
                                          context.launch.h, context.launch.h_k,
                                          context.launch.h / context.launch.h_k)}}));
}

constexpr HazardRule kRules[] = {
    {.rule = {.code = "FC-H701",
              .name = "v3-window-ignored",
              .severity = Severity::kError,
              .message = "candle-flash-attn-v3 ignores the window ({left}, {right}): attention is "
                         "{used}",
              .why = "The launchers ask a flag that nothing in the built code sets; only exact "
                     "causal (left None, right 0) reaches a kernel.",
              .fix = "Use candle-flash-attn for windows, or causal alone.",
              .source = "hkernel/flash_fwd_launch_template.h:210-511; flash_api.cu:257, 317"},
     .kind = HazardKind::kWrong,
     .callees = kV3,
     .check = check_window},
    {.rule = {.code = "FC-H702",
              .name = "v3-alibi-ignored",
              .severity = Severity::kError,
              .message = "candle-flash-attn-v3 ignores alibi_slopes: this is attention without a "
                         "bias",
              .why = "The slopes are stored in the parameters, and no kernel reads them.",
              .fix = "Use candle-flash-attn's function of the same name.",
              .source = "hkernel/flash_api.cu:266"},
     .kind = HazardKind::kWrong,
     .callees = kV3,
     .check = check_slopes},
    {.rule = {.code = "FC-H703",
              .name = "v3-head-dim-512",
              .severity = Severity::kError,
              .message = "head_dim 512 needs at least 320 KiB of shared memory and sm_90 has 227 "
                         "KiB: the process prints a CUDA error and exits",
              .why = "Q takes 64 KiB, K and V 128 KiB each in two stages. Raising the limit fails, "
                     "and a failed call ends the process with status 1.",
              .fix = "Use candle-flash-attn at head_dim 512.",
              .source = "hkernel/kernel_traits.h:18-34, 207-217; utils.h:25-34"},
     .kind = HazardKind::kExit,
     .callees = kV3,
     .check = check_head_dim},
    {.rule = {.code = "FC-H704",
              .name = "v3-descriptor-not-aligned",
              .severity = Severity::kError,
              .message = "{tensor}: {what}: the TMA descriptor is refused and the process aborts",
              .why =
                  "The descriptor builder asserts a start and strides of whole 16 bytes, of dims "
                  "of size 1 too, and the asserts are compiled in.",
              .fix = "Copy the tensor.",
              .source = "CUTLASS 3.6 include/cute/atom/copy_traits_sm90_tma.hpp"},
     .kind = HazardKind::kExit,
     .callees = kV3,
     .check = check_descriptors},
    {.rule = {.code = "FC-H705",
              .name = "v3-size-zero",
              .severity = Severity::kError,
              .message = "{what} is 0: the process aborts",
              .why = "The TMA descriptor builder asserts that every size is at least 1, and an "
                     "empty grid is a launch error, which ends the process too.",
              .fix = "Leave the call out where there is nothing to compute.",
              .source = "CUTLASS 3.6 include/cute/atom/copy_traits_sm90_tma.hpp; "
                        "hkernel/utils.h:25-34"},
     .kind = HazardKind::kExit,
     .callees = kV3,
     .check = check_sizes},
    {.rule = {.code = "FC-H706",
              .name = "v3-max-seqlen-q-too-small",
              .severity = Severity::kError,
              .message = "sequence {sequence}: output rows {first}..{last} are never written: "
                         "max_seqlen_q {max_seqlen_q} covers {first} rows, in tiles of {tile}",
              .why = "The grid is made from max_seqlen_q, and so is the tile: 64 rows up to 64, "
                     "then 128, and 192 over 128 at head_dim 64.",
              .fix = "Pass the longest query length as max_seqlen_q.",
              .source = "hkernel/static_switch.h:122-145; flash_fwd_launch_template.h:116-117"},
     .kind = HazardKind::kUnwritten,
     .callees = kV3,
     .check = check_grid_rows},
    {.rule = {.code = "FC-H707",
              .name = "v3-neighbour-not-finite",
              .severity = Severity::kError,
              .message = "sequence {sequence}: v is {value} in row {row}, {past} past its end and "
                         "within its last tile of {tile} keys: its rows become NaN",
              .why = "Tiles are loaded across the end of a sequence; the masked weights are 0 and "
                     "still multiply v, which is the next sequence's.",
              .fix = "Clear v before it is filled; sequences share tiles.",
              .source = "hkernel/seq_len.h:296-311"},
     .kind = HazardKind::kNan,
     .callees = kV3,
     .check = check_neighbours},
    {.rule = {.code = "FC-H708",
              .name = "v3-grid-too-large",
              .severity = Severity::kError,
              .message = "{size} {what}: a grid has at most 65535 of them, and the failed launch "
                         "ends the process",
              .why = "Heads and batch are the y and z of the varlen launch's grid.",
              .fix = "Split the call into parts of at most 65535.",
              .source = "hkernel/tile_scheduler.hpp:34-37; hkernel/utils.h:25-34"},
     .kind = HazardKind::kExit,
     .callees = kV3,
     .check = check_varlen_grid},
    {.rule = {.code = "FC-H709",
              .name = "v3-gqa-packing-ignored",
              .severity = Severity::kInformation,
              .message = "use_gqa_packing is ignored: {reason}",
              .why = "Packing is a matter of speed; the result is the same.",
              .fix = "Nothing to do.",
              .source = "candle-flash-attn-v3/src/lib.rs:105-108, 539-542; flash_api.cu:329"},
     .kind = HazardKind::kInformation,
     .callees = kV3,
     .check = check_packing},
};

}  // namespace

std::span<const HazardRule> v3_hazards() { return kRules; }

}  // namespace flashcheck
