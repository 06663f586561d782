#include "src/execution_rules.h"

#include <fmt/format.h>

#include <array>
#include <string>
#include <utility>
#include <variant>

#include "src/spec/checked.h"

namespace flashcheck {
namespace {

constexpr Rule kTooMuchMemory{
    .code = "FC-X101",
    .name = "too-much-memory",
    .message = "not run: it would need {needed} of memory, and the limit is {limit}",
    .why =
        "A case may describe a cache of a whole machine. Its static half was checked; the numbers "
        "were not.",
    .fix =
        "Raise --max-memory, or shrink num_blocks, the batch or the lengths: the layout stays the "
        "same.",
    .source = "flashcheck"};

constexpr Rule kTooMuchWork{
    .code = "FC-X102",
    .name = "too-much-work",
    .message = "not run: it would take {needed} multiply-adds, and the limit is {limit}",
    .why =
        "Work grows with the square of the lengths, and a CPU is slow at it. The static half of "
        "the call was checked; the numbers were not.",
    .fix = "Raise --max-work, or shrink the lengths or the number of heads.",
    .source = "flashcheck"};

constexpr Rule kNotProvenSafe{
    .code = "FC-X103",
    .name = "not-proven-safe",
    .message = "not run: {reason}",
    .why = "A call runs only if every address it can touch is known to be inside its storage.",
    .fix =
        "Give the values, correct or shrink the table or the batch, or run `flashcheck check` for "
        "the static half alone.",
    .source = "flashcheck"};

constexpr Rule kOtherShape{
    .code = "FC-X104",
    .name = "dump-of-another-shape",
    .message = "not judged: {tensor} has shape [{shape}], and the call's has [{expected}]",
    .why =
        "The dumped output is held against the reference element by element: out in q's shape, "
        "lse by head and row.",
    .fix = "Transpose or reshape it before it is saved, so that it has the shape that is named.",
    .source = "flashcheck"};

constexpr Rule kNothingToCompute{
    .code = "FC-X105",
    .name = "nothing-to-compute",
    .message = "not run: q has shape [{q}], which holds no element",
    .why = "An empty output agrees with anything, so it proves nothing.",
    .fix = "Give q at least one row, head and dim.",
    .source = "flashcheck"};

constexpr Rule kNoMoreMemory{
    .code = "FC-X106",
    .name = "no-more-memory",
    .message = "not run: this machine has no more memory to give",
    .why =
        "Every case that runs at the same time may take as much as --max-memory allows, and other "
        "programs take theirs.",
    .fix = "Run fewer cases at a time (--jobs), lower --max-memory, or shrink the call.",
    .source = "flashcheck"};

constexpr Rule kBackendCannot{
    .code = "FC-X107",
    .name = "backend-cannot",
    .message = "not run: the {backend} kernel does not take this call: {reason}",
    .why =
        "A kernel for a device has instances for some dtypes and head dims and not for others. The "
        "static half of the call was checked; the numbers were not.",
    .fix = "Run it with --device cpu, whose kernel takes every call.",
    .source = "flashcheck"};

constexpr Rule kDeviceCallFailed{
    .code = "FC-X108",
    .name = "device-call-failed",
    .message = "a call to {device} failed: {error}",
    .why =
        "A kernel that reads or writes where it must not shows on a device as an error of some "
        "call, and after it the device may be of no more use to this run. So it is a failure, "
        "whatever the case expects, and never a skip.",
    .fix =
        "Run this case alone, and with --device cpu. If it fails alone too, run it under "
        "compute-sanitizer: the fault is the kernel's, the driver's or the machine's.",
    .source = "flashcheck"};

std::string with_unit(const std::optional<int64_t>& bytes) {
  if (!bytes) return "more than 2^63 bytes";
  constexpr double kMiB = 1024.0 * 1024.0;
  const double mib = static_cast<double>(*bytes) / kMiB;
  return mib < 1024 ? fmt::format("{:.1f} MiB", mib) : fmt::format("{:.1f} GiB", mib / 1024);
}

}  // namespace

Finding too_much_memory(const std::optional<int64_t>& needed, int64_t limit) {
  return make_finding(kTooMuchMemory, "",
                      {{"needed", with_unit(needed)}, {"limit", with_unit(limit)}});
}

Finding too_much_work(const std::optional<int64_t>& needed, int64_t limit) {
  const std::string amount =
      needed ? fmt::format("{:.3g}", static_cast<double>(*needed)) : "more than 2^63";
  return make_finding(
      kTooMuchWork, "",
      {{"needed", amount}, {"limit", fmt::format("{:.3g}", static_cast<double>(limit))}});
}

Finding not_proven_safe(const Case& c) {
  for (TensorName name : {TensorName::kSeqlensQ, TensorName::kSeqlensK, TensorName::kBlockTable,
                          TensorName::kMmPrefixRanges}) {
    const TensorSpec* tensor = c.find(name);
    if (!tensor || !std::holds_alternative<std::monostate>(*tensor->values)) continue;
    return make_finding(kNotProvenSafe, fmt::format("/tensors/{}", name_of(name)),
                        {{"reason", fmt::format("it needs the values of {}", name_of(name))}});
  }
  if (!c.find(TensorName::kBlockTable)) {
    const bool varlen = c.function->varlen;
    const int64_t batch = varlen ? c.at(TensorName::kSeqlensQ).shape[0] - 1 : c.q().shape[0];
    return make_finding(
        kNotProvenSafe, varlen ? "/tensors/seqlens_q" : "/tensors/q",
        {{"reason", fmt::format("a batch of {} is too large to look at each sequence", batch)}});
  }
  return make_finding(kNotProvenSafe, "/tensors/block_table",
                      {{"reason",
                        "block_table has entries out of range among the pages of a "
                        "sequence, though no query row may see them"}});
}

std::optional<Finding> dump_of_another_shape(const Case& c) {
  const std::vector<int64_t>& q = c.q().shape;
  const std::vector<int64_t> lse = c.function->varlen ? std::vector<int64_t>{q[1], q[0]}
                                                      : std::vector<int64_t>{q[0], q[2], q[1]};
  const std::pair<TensorName, const std::vector<int64_t>*> dumps[] = {{TensorName::kOut, &q},
                                                                      {TensorName::kLse, &lse}};
  for (const auto& [name, expected] : dumps) {
    const TensorSpec* dump = c.find(name);
    if (!dump || dump->shape == *expected) continue;
    return make_finding(kOtherShape, fmt::format("/tensors/{}/shape", name_of(name)),
                        {{"tensor", std::string(name_of(name))},
                         {"shape", fmt::format("{}", fmt::join(dump->shape, ", "))},
                         {"expected", fmt::format("{}", fmt::join(*expected, ", "))}});
  }
  return std::nullopt;
}

Finding nothing_to_compute(const Case& c) {
  return make_finding(kNothingToCompute, "/tensors/q/shape",
                      {{"q", fmt::format("{}", fmt::join(c.q().shape, ", "))}});
}

Finding no_more_memory() { return make_finding(kNoMoreMemory, "", {}); }

Finding backend_cannot(std::string_view backend, std::string reason) {
  return make_finding(kBackendCannot, "",
                      {{"backend", std::string(backend)}, {"reason", std::move(reason)}});
}

Finding device_call_failed(std::string device, std::string error) {
  return make_finding(kDeviceCallFailed, "",
                      {{"device", std::move(device)}, {"error", std::move(error)}});
}

std::optional<int64_t> kernel_work(const Case& c, const std::vector<Sequence>& sequences) {
  const TensorSpec& q = c.q();
  const std::optional<int64_t> per_pair =
      checked_mul(q.shape[q.shape.size() - 2] * 2, q.shape.back());
  std::optional<int64_t> pairs = 0;
  for (const Sequence& s : sequences) {
    const std::optional<int64_t> of_sequence = checked_mul(s.seqlen_q, s.seqlen_k);
    pairs = pairs && of_sequence ? checked_add(*pairs, *of_sequence) : std::nullopt;
  }
  return pairs && per_pair ? checked_mul(*pairs, *per_pair) : std::nullopt;
}

std::span<const Rule* const> execution_rules() {
  static constexpr std::array<const Rule*, 8> kRules{
      &kTooMuchMemory,    &kTooMuchWork,  &kNotProvenSafe, &kOtherShape,
      &kNothingToCompute, &kNoMoreMemory, &kBackendCannot, &kDeviceCallFailed};
  return kRules;
}

}  // namespace flashcheck
