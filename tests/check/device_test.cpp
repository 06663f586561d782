// Kernels that are not the CPU's, as check_case sees them: one that has memory of its own, one that
// refuses, one whose device fails.

#include <doctest/doctest.h>

#include <algorithm>
#include <cstring>
#include <functional>
#include <memory>
#include <new>
#include <stdexcept>
#include <string>
#include <vector>

#include "src/check_case.h"
#include "tests/cases/shipped.h"

namespace flashcheck {
namespace {

std::vector<std::string> no_devices() { return {}; }
std::string nothing_against_the_device(int) { return ""; }
std::string nothing_against_the_launch(const AttentionParams&) { return ""; }

/// Copies of the host's regions, as a device keeps them.
class DeviceMemory {
 public:
  explicit DeviceMemory(std::span<const HostRegion> regions) : regions_(regions) {
    for (const HostRegion& region : regions) {
      copies_.push_back(std::make_unique<std::byte[]>(static_cast<size_t>(region.size_bytes)));
      std::copy_n(region.begin, region.size_bytes, copies_.back().get());
    }
  }

  /// Where the copy of `host` is. Every pointer of a launch must be inside one region alone.
  template <typename T>
  T* device(T* host) const {
    if (host == nullptr) return nullptr;
    T* found = nullptr;
    for (size_t n = 0; n < regions_.size(); ++n) {
      const std::less_equal<const void*> before;
      if (!before(regions_[n].begin, host) ||
          !before(host, regions_[n].begin + regions_[n].size_bytes)) {
        continue;
      }
      CHECK(found == nullptr);
      found =
          reinterpret_cast<T*>(copies_[n].get() + (reinterpret_cast<uintptr_t>(host) -
                                                   reinterpret_cast<uintptr_t>(regions_[n].begin)));
    }
    CHECK(found != nullptr);
    return found;
  }

  void copy_back() const {
    for (size_t n = 0; n < regions_.size(); ++n) {
      if (!regions_[n].is_written) continue;
      std::copy_n(copies_[n].get(), regions_[n].size_bytes, regions_[n].begin);
    }
  }

 private:
  std::span<const HostRegion> regions_;
  std::vector<std::unique_ptr<std::byte[]>> copies_;
};

AttentionParams on_device(const DeviceMemory& memory, AttentionParams params) {
  const auto byte = [&](const void* host) -> const void* {
    return memory.device(static_cast<const char*>(host));
  };
  params.q = byte(params.q);
  params.k = byte(params.k);
  params.v = byte(params.v);
  params.out = memory.device(static_cast<char*>(params.out));
  params.lse = memory.device(params.lse);
  params.cu_seqlens_q = memory.device(params.cu_seqlens_q);
  params.cu_seqlens_k = memory.device(params.cu_seqlens_k);
  params.alibi_slopes = memory.device(params.alibi_slopes);
  params.block_table = memory.device(params.block_table);
  params.mm_prefix_ranges = memory.device(params.mm_prefix_ranges);
  return params;
}

const Backend kApart{.name = "apart",
                     .description = "the CPU kernel, over copies of the memory it is given",
                     .devices = no_devices,
                     .unavailable = nothing_against_the_device,
                     .refusal = nothing_against_the_launch,
                     .run = [](const AttentionParams& params, const Execution& execution) {
                       const DeviceMemory memory(execution.regions);
                       backends().front().run(on_device(memory, params), execution);
                       memory.copy_back();
                     }};

const Backend kStray{.name = "stray",
                     .description = "writes before and behind out",
                     .devices = no_devices,
                     .unavailable = nothing_against_the_device,
                     .refusal = nothing_against_the_launch,
                     .run = [](const AttentionParams& params, const Execution& execution) {
                       const DeviceMemory memory(execution.regions);
                       const AttentionParams there = on_device(memory, params);
                       backends().front().run(there, execution);
                       static_cast<char*>(there.out)[-1] = 0;
                       memory.copy_back();
                     }};

const Backend kRefuses{
    .name = "refuses",
    .description = "takes nothing of f16",
    .devices = no_devices,
    .unavailable = nothing_against_the_device,
    .refusal = [](const AttentionParams& params) -> std::string {
      return params.dtype == Dtype::kF16 ? "f16 is beneath it" : "";
    },
    .run = [](const AttentionParams& params,
              const Execution& execution) { backends().front().run(params, execution); }};

const Backend kFails{
    .name = "fails",
    .description = "its device is broken",
    .devices = no_devices,
    .unavailable = nothing_against_the_device,
    .refusal = nothing_against_the_launch,
    .run = [](const AttentionParams&, const Execution& execution) {
      throw std::runtime_error("launch (x.cu:1): an illegal memory access was encountered on " +
                               std::to_string(execution.device));
    }};

const Backend kIsFull{
    .name = "is-full",
    .description = "its device has no memory left",
    .devices = no_devices,
    .unavailable = nothing_against_the_device,
    .refusal = nothing_against_the_launch,
    .run = [](const AttentionParams&, const Execution&) { throw std::bad_alloc(); }};

/// A reference whose device is broken.
class FailingProducts : public Products {
 public:
  void gemm(const GemmShape&, const double*, const double*, double, double*) const override {
    throw std::runtime_error("cublasDgemm (x.cpp:2): CUBLAS_STATUS_EXECUTION_FAILED");
  }
  void low_precision_gemm(Dtype, const GemmShape&, float, const double*, const double*,
                          double*) const override {
    throw std::logic_error("the other product comes first");
  }
};

CheckOptions on(const Backend& backend, int device = 0) {
  return {.device = {&backend, device}, .products = &blas_products()};
}

const Case& first_case(std::string_view stem) {
  const auto found =
      std::find_if(shipped_cases().begin(), shipped_cases().end(),
                   [&](const Case& c) { return stem_of(c) == stem && c.expect.has_value(); });
  REQUIRE(found != shipped_cases().end());
  return *found;
}

}  // namespace

TEST_CASE("a kernel with memory of its own needs nothing but the regions") {
  int ran = 0;
  for (const Case& c : shipped_cases()) {
    if (!stem_of(c).starts_with("numeric-")) continue;
    CAPTURE(c.id);
    const CaseReport there = check_case(c, on(kApart));
    const CaseReport here = check_case(c, {});
    CHECK(there.verdict == here.verdict);
    CHECK(there.status == Status::kPass);
    if (!here.ran) continue;
    ++ran;
    CHECK(there.backend == "apart");
    CHECK(there.device == "apart:0");
    CHECK(here.device == "cpu");
    CHECK(there.comparison->max_ratio == here.comparison->max_ratio);
    CHECK(there.comparison->max_lse_ratio == here.comparison->max_lse_ratio);
  }
  CHECK(ran >= 60);
}

TEST_CASE("guards travel with the output, so that a stray write on a device shows") {
  const CaseReport report = check_case(first_case("numeric-causal"), on(kStray));
  CHECK(report.verdict == Verdict::kMismatch);
  CHECK(report.status == Status::kFail);
  CHECK(report.comparison->num_guard_bytes_changed == 2);
}

TEST_CASE("a launch that a kernel cannot take is skipped with the reason") {
  const Case& c = first_case("numeric-causal");
  REQUIRE(c.q().dtype == Dtype::kF16);
  const CaseReport report = check_case(c, on(kRefuses));
  CHECK(report.verdict == Verdict::kSkipped);
  CHECK(report.status == Status::kSkipped);
  CHECK_FALSE(report.ran);
  REQUIRE(report.findings.size() == 1);
  CHECK(report.findings[0].rule->code == "FC-X107");
  CHECK(report.findings[0].message ==
        "not run: the refuses kernel does not take this call: f16 is beneath it");
}

TEST_CASE("a device that fails is a failure, whatever the case expects") {
  Case c = first_case("numeric-causal");
  for (const Verdict wanted : {Verdict::kOk, Verdict::kMismatch}) {
    c.expect = Expect{.verdict = wanted};
    const CaseReport report = check_case(c, on(kFails, 3));
    CHECK(report.verdict == Verdict::kSkipped);
    CHECK(report.status == Status::kFail);
    CHECK_FALSE(report.ran);
    REQUIRE(report.findings.size() == 1);
    CHECK(report.findings[0].rule->code == "FC-X108");
    CHECK(
        report.findings[0].message ==
        "a call to fails:3 failed: launch (x.cu:1): an illegal memory access was encountered on 3");
  }
  c.expect.reset();
  CHECK(check_case(c, on(kFails)).status == Status::kFail);
}

TEST_CASE("the reference's device may fail too") {
  const FailingProducts failing;
  const CaseReport report = check_case(first_case("numeric-causal"), {.products = &failing});
  CHECK(report.status == Status::kFail);
  REQUIRE(report.findings.size() == 1);
  CHECK(report.findings[0].message ==
        "a call to cpu failed: cublasDgemm (x.cpp:2): CUBLAS_STATUS_EXECUTION_FAILED");
}

TEST_CASE("a device without memory left is a skip, as the host is") {
  const CaseReport report = check_case(first_case("numeric-causal"), on(kIsFull));
  CHECK(report.status == Status::kSkipped);
  REQUIRE(report.findings.size() == 1);
  CHECK(report.findings[0].rule->code == "FC-X106");
}

TEST_CASE("devices are named as the command line names them") {
  CHECK(name_of(DeviceChoice{}) == "cpu");
  CHECK(parse_device_choice("cpu") == DeviceChoice{});
  const Backend* cuda = find_backend("cuda");
  CHECK(parse_device_choice("cuda") == DeviceChoice{cuda, 0});
  CHECK(parse_device_choice("cuda:12") == DeviceChoice{cuda, 12});
  CHECK(name_of(DeviceChoice{cuda, 12}) == "cuda:12");
  for (const std::string_view wrong :
       {"", "gpu", "CPU", "cpu:0", "cuda:", "cuda:-1", "cuda:1x", "cuda:0:0", "metal:0", ":0"}) {
    CAPTURE(wrong);
    CHECK_FALSE(parse_device_choice(wrong).has_value());
  }
  CHECK(why_unavailable({}).empty());
  CHECK(why_unavailable(fastest_device()).empty());
  CHECK_FALSE(products_unavailable("abacus", 0).empty());
}

}  // namespace flashcheck
