#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <string>

#include "src/hazards/axis_order.h"
#include "src/hazards/families.h"
#include "src/hazards/hazards.h"
#include "src/hazards/kernel_mask.h"
#include "src/hazards/tile_sizes.h"

namespace flashcheck {
namespace {

using std::to_string;
using Axes = std::vector<std::string>;

constexpr std::array kReordered{TensorName::kQ,
                                TensorName::kK,
                                TensorName::kV,
                                TensorName::kBlockTable,
                                TensorName::kMmPrefixRanges,
                                TensorName::kOut,
                                TensorName::kLse};

std::string in_parentheses(const Axes& axes) { return fmt::format("({})", fmt::join(axes, ", ")); }

/// "k", "k and v", "q, k and v".
std::string listed(const std::vector<TensorName>& names) {
  std::string text;
  for (size_t i = 0; i < names.size(); ++i) {
    if (i > 0) text += i + 1 == names.size() ? " and " : ", ";
    text += name_of(names[i]);
  }
  return text;
}

/// Tensors whose axes are declared in one order that is not the function's, though of its axes.
struct Reordering {
  std::vector<TensorName> names;
  Axes declared, taken;
  std::vector<size_t> permutation;
};

std::vector<Reordering> declared_reorderings(const Case& c) {
  std::vector<Reordering> all;
  for (const TensorName name : kReordered) {
    const TensorSpec* tensor = c.find(name);
    if (!tensor || tensor->axes.empty()) continue;
    const Axes taken = axes_taken(*c.function, name);
    const auto permutation = permutation_to(taken, in_words_of(taken, tensor->axes));
    if (!permutation || moved_dims(*permutation).empty()) continue;
    const auto same = std::find_if(all.begin(), all.end(), [&](const Reordering& other) {
      return other.declared == tensor->axes && other.taken == taken;
    });
    if (same != all.end()) {
      same->names.push_back(name);
    } else {
      all.push_back({{name}, tensor->axes, taken, *permutation});
    }
  }
  return all;
}

/// The view that has the axes in the order that the function takes.
std::string described_view(TensorName name, const TensorSpec& tensor,
                           const std::vector<size_t>& permutation) {
  const std::vector<int64_t> strides = reordered(tensor.strides, permutation);
  const std::vector<int64_t> shape = reordered(tensor.shape, permutation);
  const bool needs_copy = name != TensorName::kLse && shape.back() > 1 && strides.back() != 1;
  return fmt::format(
      "{} is a view of shape {}, strides {}{}", reordering_call(name, permutation), shape, strides,
      needs_copy ? ": its last stride must be 1, so add .contiguous()?" : ", without a copy");
}

void tell_declared_order(const Case& c, const Rule& rule, const EmitHazard& emit) {
  for (const Reordering& found : declared_reorderings(c)) {
    const std::vector<size_t> moved = moved_dims(found.permutation);
    Finding finding =
        make_finding(rule, fmt::format("/tensors/{}/axes", name_of(found.names.front())),
                     {{"axes", moved.size() == 2 ? fmt::format("{} and {}", moved[0], moved[1])
                                                 : fmt::format("{}", fmt::join(moved, ", "))},
                      {"tensors", listed(found.names)},
                      {"how", moved.size() == 2 ? "swapped" : "permuted"},
                      {"declared", in_parentheses(found.declared)},
                      {"function", std::string(c.function->name)},
                      {"taken", in_parentheses(found.taken)}});
    std::string calls;
    for (const TensorName name : found.names) {
      finding.details.push_back(described_view(name, c.at(name), found.permutation));
      calls += (calls.empty() ? "pass " : ", ") + reordering_call(name, found.permutation);
    }
    if (c.function->paged && found.names.front() == TensorName::kK) {
      const int64_t rows = reordered(c.k().shape, found.permutation)[1];
      if (rows != c.args.page_block_size) {
        calls += fmt::format(" and page_block_size {}", rows);
        if (rows % 32 != 0) calls += ", which the wrapper refuses: pages are multiples of 32";
      }
    }
    finding.fix = calls + "; strides are honoured";
    emit(std::move(finding));
  }
}

std::string hint_at_function(const Axes& declared, const Axes& taken) {
  const auto has = [](const Axes& axes, std::string_view axis) {
    return std::find(axes.begin(), axes.end(), axis) != axes.end();
  };
  if (has(taken, "page") && !has(declared, "page")) {
    return "a cache without pages goes to a function without a block_table";
  }
  if (has(declared, "page") && !has(taken, "page")) {
    return "a pool of pages needs flash_attn_varlen_paged_windowed and its block_table";
  }
  return "pass a tensor of the axes that are taken, or correct `axes`";
}

void tell_declared_kind(const Case& c, const Rule& rule, const EmitHazard& emit) {
  for (const TensorName name : kReordered) {
    const TensorSpec* tensor = c.find(name);
    if (!tensor || tensor->axes.empty()) continue;
    const Axes taken = axes_taken(*c.function, name);
    if (permutation_to(taken, in_words_of(taken, tensor->axes))) continue;
    Finding finding = make_finding(rule, fmt::format("/tensors/{}/axes", name_of(name)),
                                   {{"tensor", std::string(name_of(name))},
                                    {"declared", in_parentheses(tensor->axes)},
                                    {"function", std::string(c.function->name)},
                                    {"taken", in_parentheses(taken)}});
    finding.fix = hint_at_function(tensor->axes, taken);
    emit(std::move(finding));
  }
}

template <void (*tell)(const Case&, const Rule&, const EmitHazard&)>
void check_declaration(const HazardContext& context, const Rule& rule, const EmitHazard& emit) {
  tell(context.c, rule, emit);
}

void check_pages_by_length(const HazardContext& context, const Rule& rule, const EmitHazard& emit) {
  const Case& c = context.c;
  if (!c.function->paged || !context.sequences || !c.k().axes.empty()) return;
  const int64_t rows = c.k().shape[1], heads = c.k().shape[2];
  if (rows == 0 || heads == 0 || heads <= rows || heads % 32 != 0) return;
  if (context.launch.h % rows != 0) return;
  const int64_t columns = c.at(TensorName::kBlockTable).shape[1];
  int64_t longest = 0;
  for_each_sequence(context, [&](int64_t, const LaunchedSequence& s) {
    longest = std::max(longest, s.seqlen_k());
  });
  if (ceil_div(longest, rows) <= columns || ceil_div(longest, heads) > columns) return;
  Finding finding = make_finding(rule, "/tensors/k/shape",
                                 {{"length", to_string(longest)},
                                  {"columns", to_string(columns)},
                                  {"rows", to_string(rows)},
                                  {"heads", to_string(heads)},
                                  {"q_heads", to_string(context.launch.h)}});
  const std::vector<size_t> swap{0, 2, 1, 3};
  for (const TensorName name : {TensorName::kK, TensorName::kV}) {
    finding.details.push_back(described_view(name, c.at(name), swap));
  }
  finding.fix = fmt::format(
      "if k and v are (page, head, token, dim), pass k.transpose(1, 2)?, v.transpose(1, 2)? and "
      "page_block_size {}",
      heads);
  emit(std::move(finding));
}

/// The two sizes that could be taken for one another are one number.
void check_ambiguous_order(const HazardContext& context, const Rule& rule, const EmitHazard& emit) {
  const Case& c = context.c;
  const auto is_ambiguous = [&](TensorName name) {
    const TensorSpec* tensor = c.find(name);
    if (!tensor || !tensor->axes.empty() || tensor->shape.size() < 2) return false;
    const size_t head_axis = tensor->shape.size() - 2;
    const size_t row_axis = name == TensorName::kLse ? head_axis + 1 : head_axis - 1;
    return tensor->shape[head_axis] > 1 && tensor->shape[head_axis] == tensor->shape[row_axis];
  };
  const auto report = [&](TensorName name, std::string_view tensors, std::string_view is,
                          std::string_view one, std::string_view other) {
    const std::vector<int64_t>& shape = c.at(name).shape;
    emit(make_finding(rule, fmt::format("/tensors/{}/shape", name_of(name)),
                      {{"tensors", std::string(tensors)},
                       {"is", std::string(is)},
                       {"shape", fmt::format("{}", shape)},
                       {"size", to_string(shape[shape.size() - 2])},
                       {"one", std::string(one)},
                       {"other", std::string(other)}}));
  };
  if (c.function->paged) {
    if (is_ambiguous(TensorName::kK)) {
      report(TensorName::kK, "k and v", "are", "(page, token, head, dim)",
             "(page, head, token, dim)");
    }
  } else if (is_ambiguous(TensorName::kQ) && is_ambiguous(TensorName::kK)) {
    report(TensorName::kQ, "q, k and v", "are", "(token, head, dim)", "(head, token, dim)");
  }
  if (is_ambiguous(TensorName::kLse)) {
    report(TensorName::kLse, "lse", "is", "(head, token)", "(token, head)");
  }
}

void check_output_shape(const HazardContext& context, const Rule& rule, const EmitHazard& emit) {
  const Case& c = context.c;
  const std::vector<int64_t>& q = c.q().shape;
  const std::vector<int64_t> lse = c.function->varlen ? std::vector<int64_t>{q[1], q[0]}
                                                      : std::vector<int64_t>{q[0], q[2], q[1]};
  const auto check = [&](TensorName name, const std::vector<int64_t>& written) {
    const TensorSpec* tensor = c.find(name);
    if (!tensor || tensor->shape == written) return;
    Finding finding = make_finding(rule, fmt::format("/tensors/{}/shape", name_of(name)),
                                   {{"tensor", std::string(name_of(name))},
                                    {"shape", fmt::format("{}", tensor->shape)},
                                    {"written", fmt::format("{}", written)}});
    const size_t rank = written.size();
    const std::vector<int64_t>& shape = tensor->shape;
    if (shape.size() == rank) {
      std::vector<int64_t> swapped = written;
      const size_t first = name == TensorName::kLse ? rank - 2 : rank - 3;
      std::swap(swapped[first], swapped[first + 1]);
      if (shape == swapped) {
        finding.fix = fmt::format("axes {0} and {1} are swapped: {2}.transpose({0}, {1})?", first,
                                  first + 1, name_of(name));
      } else if (name == TensorName::kOut && shape[rank - 2] == context.launch.h_k) {
        finding.fix =
            fmt::format("{} is the number of k/v heads, and out has the {} of q: reshape with q's",
                        shape[rank - 2], context.launch.h);
      }
    }
    emit(std::move(finding));
  };
  check(TensorName::kOut, q);
  check(TensorName::kLse, lse);
}

void check_inverted_scale(const HazardContext& context, const Rule& rule, const EmitHazard& emit) {
  const double scale = context.launch.softmax_scale, head_dim = context.launch.d;
  if (head_dim < 2 || !(std::fabs(scale * scale - head_dim) < 1e-4 * head_dim)) return;
  Finding finding = make_finding(rule, "/args/softmax_scale",
                                 {{"scale", fmt::format("{}", context.launch.softmax_scale)},
                                  {"head_dim", to_string(context.launch.d)}});
  finding.fix = fmt::format("pass 1 / sqrt({}) = {}", context.launch.d,
                            static_cast<float>(1 / std::sqrt(head_dim)));
  emit(std::move(finding));
}

void check_two_sided_window(const HazardContext& context, const Rule& rule,
                            const EmitHazard& emit) {
  const WindowMask declared = declared_mask(context.c);
  if (!declared.left || declared.right || drops_window(context)) return;
  const WindowMask used = kernel_mask(context);
  const int64_t right = used.right.value_or(context.launch.seqlen_k);
  bool is_told = false;
  for_each_sequence(context, [&](int64_t b, const LaunchedSequence& s) {
    if (is_told || s.seqlen_q() < 2 || s.seqlen_k() < 2 || right < 1) return;
    // The last row but one stands at the last key but one, and sees one more.
    is_told = true;
    emit(make_finding(rule, "/args/window_size_right",
                      {{"left", to_string(*declared.left)},
                       {"subject", context.c.function->varlen ? fmt::format("sequence {}", b)
                                                              : std::string("every sequence")}}));
  });
}

constexpr HazardRule kRules[] = {
    {.rule = {.code = "FC-H801",
              .name = "axes-permuted",
              .severity = Severity::kError,
              .message = "axes {axes} of {tensors} are {how}: declared {declared}, and {function} "
                         "takes {taken}",
              .why = "Axes are taken by position and never checked: sizes that happen to fit are "
                     "attended along the wrong axis.",
              .fix = "Pass a view with the axes in order; only the last stride must be 1.",
              .source = "candle-flash-attn/src/lib.rs:70-71, 558-560"},
     .kind = HazardKind::kWrong,
     .callees = kAll,
     .check = check_declaration<tell_declared_order>},
    {.rule = {.code = "FC-H802",
              .name = "axes-of-another-call",
              .severity = Severity::kError,
              .message = "{tensor} is declared {declared}, and {function} takes {taken}",
              .why = "Axes are taken by position: whatever they hold is read as these.",
              .fix = "Call the function that takes these axes.",
              .source = "candle-flash-attn/src/lib.rs:70-71, 558-560"},
     .kind = HazardKind::kWrong,
     .callees = kAll,
     .check = check_declaration<tell_declared_kind>},
    {.rule = {.code = "FC-H803",
              .name = "pages-fit-only-swapped",
              .severity = Severity::kWarning,
              .message = "length {length} fits {columns} pages of {heads} and not of {rows}, and "
                         "{rows} divides the {q_heads} heads of q: axes 1 and 2 of k and v look "
                         "swapped",
              .why = "Axis 1 of k and v is taken for the rows of a page and axis 2 for the heads. "
                     "A pool of (page, head, token, dim) passes where its heads are a multiple of "
                     "32 and its page rows divide the heads of q.",
              .fix = "Transpose axes 1 and 2 of k and v; strides are honoured.",
              .source = "candle-flash-attn/src/lib.rs:558-581"},
     .kind = HazardKind::kWrong,
     .callees = kV2,
     .check = check_pages_by_length},
    {.rule = {.code = "FC-H804",
              .name = "axes-cannot-be-told",
              .severity = Severity::kInformation,
              .message = "{tensors} {is} {shape}, heads and tokens both {size}: nothing can tell "
                         "{one} from {other}; say which with `axes`",
              .why = "Both readings fit every check, and strides do not decide: a transposed view "
                     "and a packed tensor are both honoured.",
              .fix = "Declare `axes`, or test with sizes that differ.",
              .source = "candle-flash-attn/src/lib.rs:70-71, 558-576"},
     .kind = HazardKind::kInformation,
     .callees = kCandle,
     .check = check_ambiguous_order},
    {.rule = {.code = "FC-H805",
              .name = "output-shape-differs",
              .severity = Severity::kError,
              .message = "{tensor} has shape {shape}, and the call gives {written}",
              .why = "The output has the shape of q, head for head. lse is (batch, head, token), "
                     "or (head, token) for sequences in one tensor.",
              .fix = "Reshape with the heads of q, or correct the case.",
              .source =
                  "candle-flash-attn/src/lib.rs:144, 707; kernels/flash_fwd_kernel.h:485-503"},
     .kind = HazardKind::kWrong,
     .callees = kAll,
     .check = check_output_shape},
    {.rule = {.code = "FC-H806",
              .name = "scale-inverted",
              .severity = Severity::kWarning,
              .message = "softmax_scale is {scale}, the square root of head_dim {head_dim}: scores "
                         "are multiplied by it",
              .why = "The usual scale is 1 / sqrt(head_dim). Its inverse makes the softmax pick "
                     "the largest score alone, and nothing refuses it.",
              .fix = "Pass 1 / sqrt(head_dim).",
              .source = "kernels/softmax.h:75-88; FlashAttention, arXiv 2205.14135, section 2.2"},
     .kind = HazardKind::kWrong,
     .callees = kCandle,
     .check = check_inverted_scale},
    {.rule = {.code = "FC-H807",
              .name = "window-shows-the-future",
              .severity = Severity::kInformation,
              .message = "window_size_left is {left} and window_size_right None: in {subject} rows "
                         "see keys after their own; a causal window has Some(0)",
              .why = "None is no limit, also beside a limit on the left.",
              .fix = "Pass Some(0) as window_size_right for a causal window.",
              .source = "candle-flash-attn/src/lib.rs:124-161, 684-724"},
     .kind = HazardKind::kInformation,
     .callees = kV2,
     .check = check_two_sided_window},
};

}  // namespace

std::span<const HazardRule> declared_hazards() { return kRules; }

std::vector<Finding> find_contradicted_axes(const Case& c) {
  std::vector<Finding> findings;
  const EmitHazard emit = [&](Finding finding) { findings.push_back(std::move(finding)); };
  tell_declared_order(c, kRules[0].rule, emit);
  tell_declared_kind(c, kRules[1].rule, emit);
  return findings;
}

}  // namespace flashcheck
