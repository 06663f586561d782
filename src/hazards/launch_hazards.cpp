#include <string>

#include "src/hazards/families.h"

namespace flashcheck {
namespace {

constexpr int64_t kMaxGrid = 65535;  // y and z of a CUDA grid

void check_grid(const HazardContext& context, const Rule& rule, const EmitHazard& emit) {
  const auto check = [&](const char* what, const char* where, int64_t size) {
    if (size <= kMaxGrid) return;
    Finding finding = make_finding(rule, where, {{"what", what}, {"size", std::to_string(size)}});
    finding.fix = "split the call into parts of at most 65535, " +
                  std::to_string((size + kMaxGrid - 1) / kMaxGrid) + " of them";
    emit(std::move(finding));
  };
  const bool varlen = context.c.function->varlen;
  check("sequences", varlen ? "/tensors/seqlens_q/shape/0" : "/tensors/q/shape/0",
        context.launch.b);
  check("query heads", varlen ? "/tensors/q/shape/1" : "/tensors/q/shape/2", context.launch.h);
}

constexpr HazardRule kRules[] = {
    {.rule = {.code = "FC-H601",
              .name = "grid-too-large",
              .severity = Severity::kError,
              .message = "{size} {what}: a grid has at most 65535 of them, so nothing runs and the "
                         "whole output is never written",
              .why = "Batch and heads are the y and z of the launch's grid. The launch fails, the "
                     "wrapper drops the error, and Ok is returned with an output of old memory.",
              .fix = "Split the call into parts of at most 65535.",
              .source = "kernels/flash_fwd_launch_template.h:62, 105; kernels/error.h:3-8"},
     .kind = HazardKind::kUnwritten,
     .callees = kV2,
     .check = check_grid},
};

}  // namespace

std::span<const HazardRule> launch_hazards() { return kRules; }

}  // namespace flashcheck
