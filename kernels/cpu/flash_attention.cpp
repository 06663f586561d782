#include "kernels/cpu/flash_attention.h"

#include <algorithm>
#include <atomic>
#include <functional>
#include <thread>
#include <vector>

#include "kernels/cpu/query_tile.h"
#include "kernels/cpu/work_list.h"
#include "kernels/half.h"
#include "kernels/sequence_extent.h"

namespace flashcheck {
namespace {

WorkList work_list(const AttentionParams& params) {
  const LaunchParams& launch = params.launch;
  std::vector<int64_t> lanes;
  lanes.reserve(launch.b);
  for (int64_t sequence = 0; sequence < launch.b; ++sequence) {
    lanes.push_back(sequence_extent(params, sequence).seqlen_q * (launch.h / launch.h_k));
  }
  return WorkList(lanes, launch.h_k, kBlockM);
}

/// Each query tile is computed by one thread in a fixed order, so who takes which does not matter.
template <typename T>
void run(const AttentionParams& params, int num_threads) {
  const WorkList work = work_list(params);
  const int64_t num_workers = std::min<int64_t>(num_threads, work.size());
  std::vector<Workspace> workspaces(static_cast<size_t>(std::max<int64_t>(1, num_workers)),
                                    Workspace(params.launch.d));
  std::atomic<int64_t> next = 0;
  const auto work_on = [&](Workspace& workspace) {
    for (int64_t index; (index = next.fetch_add(1, std::memory_order_relaxed)) < work.size();) {
      attend_query_tile<T>(params, work[index], workspace);
    }
  };
  std::vector<std::jthread> threads;
  for (size_t t = 1; t < workspaces.size(); ++t) {
    threads.emplace_back(work_on, std::ref(workspaces[t]));
  }
  work_on(workspaces[0]);
}

}  // namespace

void cpu_flash_attention(const AttentionParams& params, int num_threads) {
  if (params.launch.h == 0) return;
  switch (params.dtype) {
    case Dtype::kF16:
      return run<Half>(params, num_threads);
    case Dtype::kBF16:
      return run<BFloat16>(params, num_threads);
    default:
      return run<float>(params, num_threads);
  }
}

}  // namespace flashcheck
