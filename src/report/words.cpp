#include "src/report/words.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <optional>

namespace flashcheck {
namespace {

std::string describe_tensor(const Case& c, const TensorSpec& tensor) {
  std::string text = fmt::format("{} {}", name_of(tensor.dtype), tensor.shape);
  if (tensor.strides != contiguous_strides(tensor.shape)) {
    text += fmt::format(", strides {}", tensor.strides);
  }
  if (tensor.offset != 0) text += fmt::format(", offset {}", tensor.offset);
  const StorageSpec& storage = c.storages[static_cast<size_t>(tensor.storage)];
  if (tensor.span() && storage.elements != tensor.offset + *tensor.span()) {
    text += fmt::format(", storage {} of {}", storage.name, storage.elements);
  }
  if (tensor.device != Device{}) text += ", " + name_of(tensor.device);
  return text;
}

template <typename T>
std::string or_none(const std::optional<T>& value) {
  return value ? fmt::format("{}", *value) : "null";
}

std::string describe_arg(const CallArgs& args, std::string_view name) {
  if (name == "softmax_scale") return fmt::format("{}", args.softmax_scale);
  if (name == "causal") return fmt::format("{}", args.causal);
  if (name == "window_size_left") return or_none(args.window_size_left);
  if (name == "window_size_right") return or_none(args.window_size_right);
  if (name == "max_seqlen_q") return fmt::format("{}", args.max_seqlen_q);
  if (name == "max_seqlen_k") return fmt::format("{}", args.max_seqlen_k);
  if (name == "page_block_size") return fmt::format("{}", args.page_block_size);
  if (name == "softcap") return or_none(args.softcap);
  if (name == "use_gqa_packing") return fmt::format("{}", args.use_gqa_packing);
  return "";
}

/// "/tensors/k/shape/0" -> {"tensors", "k"}.
std::pair<std::string_view, std::string_view> first_two(std::string_view pointer) {
  if (pointer.empty()) return {};
  pointer.remove_prefix(1);
  const size_t slash = std::min(pointer.find('/'), pointer.size());
  const std::string_view first = pointer.substr(0, slash);
  pointer.remove_prefix(std::min(slash + 1, pointer.size()));
  return {first, pointer.substr(0, pointer.find('/'))};
}

}  // namespace

std::vector<const Finding*> leading_findings(const CaseReport& report) {
  std::vector<const Finding*> leading;
  if (!report.outcome.findings.empty()) leading.push_back(&report.outcome.findings.front());
  for (const Finding& finding : report.hazards) {
    if (finding.rule->severity != Severity::kInformation) leading.push_back(&finding);
  }
  for (const Finding& finding : report.findings) {
    if (finding.rule->severity != Severity::kInformation) leading.push_back(&finding);
  }
  return leading;
}

std::vector<const Finding*> findings_after_that(const CaseReport& report) {
  std::vector<const Finding*> later;
  for (size_t i = 1; i < report.outcome.findings.size(); ++i) {
    later.push_back(&report.outcome.findings[i]);
  }
  return later;
}

std::vector<const Finding*> information(const CaseReport& report) {
  std::vector<const Finding*> found;
  for (const std::vector<Finding>* findings : {&report.hazards, &report.findings}) {
    for (const Finding& finding : *findings) {
      if (finding.rule->severity == Severity::kInformation) found.push_back(&finding);
    }
  }
  return found;
}

std::string numbers_sentence(const Comparison& n) {
  std::string text = fmt::format("largest error {:.3g} of the bound, median {:.2g}; {} of {} rows",
                                 n.max_ratio, n.median_ratio, n.num_rows_checked, n.num_rows);
  if (n.fa2_ratio)
    text += fmt::format("; FlashAttention's 2x rule: {:.2g} of its allowance", *n.fa2_ratio);
  if (n.num_statistical_outliers > 0) {
    text += fmt::format("; {} (row, head) pairs beyond the statistical rule",
                        n.num_statistical_outliers);
  }
  return text;
}

std::string sound_sentence(const CaseReport& report) {
  const WrapperFunction& function = *report.c->function;
  std::string text =
      function.wrapper == Wrapper::kNone
          ? fmt::format("{} is well defined", function.name)
          : fmt::format("{} accepts this call of {}", name_of(function.wrapper), function.name);
  text += ", inputs valid";
  if (report.comparison) {
    text += report.judged_dump ? "; the dumped out is right: " : "; the numbers are right";
    if (!report.judged_dump) text += report.device == "cpu" ? ": " : " on " + report.device + ": ";
    text += numbers_sentence(*report.comparison);
  }
  return text;
}

std::string describe_place(const Case& c, std::string_view pointer) {
  const auto [kind, name] = first_two(pointer);
  if (kind == "args") return describe_arg(c.args, name);
  if (kind != "tensors") return "";
  const std::optional<TensorName> tensor = parse_tensor_name(name);
  if (!tensor || !c.find(*tensor)) return "";
  return describe_tensor(c, c.at(*tensor));
}

std::string repeat_command(const CaseReport& report, std::string_view command) {
  return fmt::format("{} {} -k {}", command, shell_quoted(report.c->source.path),
                     shell_quoted(report.c->id));
}

std::string shell_quoted(std::string_view text) {
  constexpr std::string_view kPlain =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./-+=:,@%";
  if (!text.empty() && text.find_first_not_of(kPlain) == std::string_view::npos) {
    return std::string(text);
  }
  std::string quoted = "'";
  for (char c : text) quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return quoted + "'";
}

}  // namespace flashcheck
