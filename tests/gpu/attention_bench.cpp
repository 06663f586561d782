// Times the CUDA kernel: prefill, paged decode and chunked prefill, beside a big matrix product and
// a big copy of the same run. Not a test of the kernel, though what it writes is looked at.
#include <cuda_runtime_api.h>
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/cuda/check_cuda.h"
#include "kernels/cuda/flash_attention.h"
#include "tests/gpu/bench_row.h"
#include "tests/gpu/bench_shapes.h"
#include "tests/gpu/yardsticks.h"

using namespace flashcheck;
using namespace flashcheck::bench;
using Json = nlohmann::ordered_json;

namespace {

constexpr int kDevice = 0;
constexpr int kOk = 0, kFailed = 1, kWrongUsage = 2, kSkipped = 77;
constexpr std::string_view kUsage =
    "usage: attention_bench [--quick] [--list] [--budget SECONDS] [--output FILE]\n"
    "  --quick    a few small shapes\n"
    "  --list     print the shapes as JSON and time nothing; needs no device\n"
    "  --budget   leave out the shapes that come after so long (240)\n"
    "  --output   where the JSON goes\n"
    "status: 0; 1 if a row failed or was left out; 2 wrong usage; 77 no device\n";

struct Options {
  bool is_quick = false, lists = false;
  double budget_seconds = 240;
  std::string output;
};

/// What a share is of.
struct Yardsticks {
  Yardstick matrix_product, copy;
};

Json to_json(const BenchShape& shape) {
  return {{"kind", name_of(shape.kind)},  {"batch_size", shape.batch_size},
          {"seqlen_q", shape.seqlen_q},   {"seqlen_k", shape.seqlen_k},
          {"num_heads", shape.num_heads}, {"num_heads_k", shape.num_heads_k},
          {"head_dim", shape.head_dim},   {"page_block_size", shape.page_block_size},
          {"is_causal", shape.is_causal}, {"useful_flops", shape.useful_flops()},
          {"kv_bytes", shape.kv_bytes()}};
}

Json to_json(const LaunchTimes& times) {
  return {{"min", times.min},
          {"median", times.median},
          {"p90", times.p90},
          {"launches", times.num_launches}};
}

Json to_json(const Yardstick& yardstick, const char* unit) {
  return {{"seconds", to_json(yardstick.times)}, {unit, yardstick.per_second}};
}

Json to_json(const BenchRow& row, const Yardsticks& yardsticks) {
  Json json = {{"shape", to_json(row.shape)}};
  if (!row.failure.empty()) {
    json["failure"] = row.failure;
    return json;
  }
  const double flops = row.shape.useful_flops() / row.times.median;
  const double bytes = row.shape.kv_bytes() / row.times.median;
  json["seconds"] = to_json(row.times);
  json["flops_per_second"] = flops;
  json["kv_bytes_per_second"] = bytes;
  json["share_of_matrix_product"] = flops / yardsticks.matrix_product.per_second;
  json["share_of_copy"] = bytes / yardsticks.copy.per_second;
  json["row_error"] = row.row_error;
  json["input_copies"] = row.num_copies;
  json["blocks"] = row.num_blocks;
  json["splits"] = row.num_splits;
  json["tile"] = {{"rows", row.rows_per_tile}, {"keys", row.keys_per_tile}};
  return json;
}

int attribute(cudaDeviceAttr name) {
  int value = 0;
  check_cuda(cudaDeviceGetAttribute(&value, name, kDevice), "cudaDeviceGetAttribute");
  return value;
}

Json describe_device() {
  cudaDeviceProp properties{};
  check_cuda(cudaGetDeviceProperties(&properties, kDevice), "cudaGetDeviceProperties");
  int driver = 0, runtime = 0;
  check_cuda(cudaDriverGetVersion(&driver), "cudaDriverGetVersion");
  check_cuda(cudaRuntimeGetVersion(&runtime), "cudaRuntimeGetVersion");
  return {{"name", properties.name},
          {"compute_capability", fmt::format("{}.{}", properties.major, properties.minor)},
          {"multiprocessors", properties.multiProcessorCount},
          {"memory_bytes", properties.totalGlobalMem},
          {"l2_bytes", properties.l2CacheSize},
          {"highest_clock_khz", attribute(cudaDevAttrClockRate)},
          {"driver_cuda_version", driver},
          {"runtime_cuda_version", runtime}};
}

void print_row(const Json& row) {
  const Json& shape = row["shape"];
  const auto number = [&](const char* key) { return shape[key].get<int64_t>(); };
  const int64_t page = number("page_block_size");
  fmt::print("{:<8}{:>5}{:>6}{:>8}{:>4}/{:<3}{:>4}{:>6}{:>7}", shape["kind"].get<std::string>(),
             number("batch_size"), number("seqlen_q"), number("seqlen_k"), number("num_heads"),
             number("num_heads_k"), number("head_dim"), page > 0 ? std::to_string(page) : "-",
             shape["is_causal"].get<bool>() ? "causal" : "full");
  if (row.contains("failure")) {
    fmt::print("  FAILED: {}\n", row["failure"].get<std::string>());
  } else {
    const Json& seconds = row["seconds"];
    fmt::print("{:>11.1f}{:>9.1f}{:>6.1f}%{:>8.0f}{:>6.1f}%\n",
               1e6 * seconds["median"].get<double>(), 1e-12 * row["flops_per_second"].get<double>(),
               100 * row["share_of_matrix_product"].get<double>(),
               1e-9 * row["kv_bytes_per_second"].get<double>(),
               100 * row["share_of_copy"].get<double>());
  }
  std::fflush(stdout);
}

/// All rows, printed as they come. Each share is of the yardsticks that were measured before them.
Json run_all(const Options& options) {
  const auto start = std::chrono::steady_clock::now();
  const auto elapsed = [&] {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  };
  const double budget = options.is_quick ? 0.05 : 0.7;  // of a row, warm-up apart
  check_cuda(cudaSetDevice(kDevice), "cudaSetDevice");
  const Yardsticks before{time_matrix_product(2 * budget), time_copy(2 * budget)};
  const Json device = describe_device();
  fmt::print("{}: matrix product {:.1f} TFLOP/s, copy {:.0f} GB/s\n",
             device["name"].get<std::string>(), 1e-12 * before.matrix_product.per_second,
             1e-9 * before.copy.per_second);
  fmt::print(
      "kind    batch     q       k heads     d  page   mask  median us  TFLOP/s  share    "
      "GB/s  share\n");
  Json rows = Json::array();
  for (const BenchShape& shape : bench_shapes(options.is_quick)) {
    BenchRow row;
    row.shape = shape;
    if (elapsed() < options.budget_seconds) {
      row = bench_row(shape, kDevice, budget);
    } else {
      row.failure = fmt::format("left out: over the {:.0f} s of --budget", options.budget_seconds);
    }
    rows.push_back(to_json(row, before));
    print_row(rows.back());
  }
  const Yardsticks after{time_matrix_product(budget), time_copy(budget)};
  fmt::print("afterwards: matrix product {:.1f} TFLOP/s, copy {:.0f} GB/s; {:.0f} s in all\n",
             1e-12 * after.matrix_product.per_second, 1e-9 * after.copy.per_second, elapsed());
  return {{"format", "flashcheck-bench/1"},
          {"kernel", "flashcheck"},
          {"device", device},
          {"matrix_product", to_json(before.matrix_product, "flops_per_second")},
          {"matrix_product_afterwards", to_json(after.matrix_product, "flops_per_second")},
          {"copy", to_json(before.copy, "bytes_per_second")},
          {"copy_afterwards", to_json(after.copy, "bytes_per_second")},
          {"rows", rows}};
}

bool parse(const std::vector<std::string>& arguments, Options& options) {
  for (size_t n = 0; n < arguments.size(); ++n) {
    const std::string& argument = arguments[n];
    const bool has_value = n + 1 < arguments.size();
    if (argument == "--quick") {
      options.is_quick = true;
    } else if (argument == "--list") {
      options.lists = true;
    } else if (argument == "--output" && has_value) {
      options.output = arguments[++n];
    } else if (argument == "--budget" && has_value) {
      options.budget_seconds = std::atof(arguments[++n].c_str());
    } else {
      return false;
    }
  }
  return options.budget_seconds > 0;
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  if (!parse({argv + 1, argv + argc}, options)) {
    std::fputs(kUsage.data(), stderr);
    return kWrongUsage;
  }
  if (options.lists) {
    Json shapes = Json::array();
    for (const BenchShape& shape : bench_shapes(options.is_quick)) shapes.push_back(to_json(shape));
    fmt::print("{}\n", shapes.dump(1));
    return kOk;
  }
  if (const std::string why = cuda_unavailable(kDevice); !why.empty()) {
    fmt::print(stderr, "attention_bench: skipped: {}\n", why);
    return kSkipped;
  }
  try {
    const Json result = run_all(options);
    if (!options.output.empty()) {
      std::ofstream file(options.output);
      file << result.dump(1) << '\n';
      if (!file.flush()) throw std::runtime_error("cannot write " + options.output);
    }
    const bool any_failed = std::ranges::any_of(
        result["rows"], [](const Json& row) { return row.contains("failure"); });
    return any_failed ? kFailed : kOk;
  } catch (const std::exception& error) {
    fmt::print(stderr, "attention_bench: {}\n", error.what());
    return kFailed;
  }
}
