#include <cuda_runtime.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "kernels/cuda/check_cuda.h"
#include "kernels/cuda/ptx.h"
#include "kernels/half.h"
#include "tests/gpu/naive_rows.h"

namespace flashcheck::bench {
namespace {

constexpr int kThreads = 256;

struct NaiveCall {
  BenchShape shape;
  const Half *q, *k, *v, *out;
  const int32_t* block_table;
  double softmax_scale;
};

template <typename T>
const T* pointer_to(const DeviceBuffer& buffer) {
  return reinterpret_cast<const T*>(buffer.begin());
}

/// Where key j of a sequence's kv head begins, in elements.
__device__ int64_t kv_offset(const NaiveCall& call, int64_t sequence, int64_t kv_head, int64_t j) {
  const BenchShape& shape = call.shape;
  int64_t row = sequence * shape.seqlen_k + j;
  if (shape.page_block_size > 0) {
    const int64_t pages = (shape.seqlen_k + shape.page_block_size - 1) / shape.page_block_size;
    const int64_t page = call.block_table[sequence * pages + j / shape.page_block_size];
    row = page * shape.page_block_size + j % shape.page_block_size;
  }
  return (row * shape.num_heads_k + kv_head) * shape.head_dim;
}

/// `combine` over the values of a block's threads.
template <typename Combine>
__device__ double reduce(double value, Combine combine) {
  auto* values = reinterpret_cast<double*>(ptx::dynamic_shared_memory());
  values[threadIdx.x] = value;
  __syncthreads();
  double result = values[0];
  for (int t = 1; t < kThreads; ++t) result = combine(result, values[t]);
  __syncthreads();
  return result;
}

/// Block b: errors[b] of rows[b]. `weights` is [rows][seqlen_k].
__global__ void naive_row(NaiveCall call, const RowIndex* rows, double* weights, double* errors) {
  const BenchShape& shape = call.shape;
  const RowIndex row = rows[blockIdx.x];
  const int64_t d = shape.head_dim, first_thread = threadIdx.x;
  const int64_t kv_head = row.head / (shape.num_heads / shape.num_heads_k);
  const int64_t at = ((row.sequence * shape.seqlen_q + row.token) * shape.num_heads + row.head) * d;
  const int64_t visible =
      shape.is_causal ? row.token + shape.seqlen_k - shape.seqlen_q + 1 : shape.seqlen_k;
  double* w = weights + blockIdx.x * shape.seqlen_k;
  const auto plus = [](double a, double b) { return a + b; };

  double largest = -std::numeric_limits<double>::infinity();
  for (int64_t j = first_thread; j < visible; j += kThreads) {
    const Half* key = call.k + kv_offset(call, row.sequence, kv_head, j);
    double dot = 0;
    for (int64_t c = 0; c < d; ++c) {
      dot += double{to_float(call.q[at + c])} * double{to_float(key[c])};
    }
    w[j] = call.softmax_scale * dot;
    largest = fmax(largest, w[j]);
  }
  largest = reduce(largest, [](double a, double b) { return fmax(a, b); });
  double sum = 0;
  for (int64_t j = first_thread; j < visible; j += kThreads) sum += w[j] = exp(w[j] - largest);
  sum = reduce(sum, plus);

  double error2 = 0, expected2 = 0;
  for (int64_t c = first_thread; c < d; c += kThreads) {
    double o = 0;
    for (int64_t j = 0; j < visible; ++j) {
      o += w[j] * double{to_float(call.v[kv_offset(call, row.sequence, kv_head, j) + c])};
    }
    const double error = double{to_float(call.out[at + c])} - o / sum;
    error2 += error * error;
    expected2 += o / sum * (o / sum);
  }
  error2 = reduce(error2, plus);
  expected2 = reduce(expected2, plus);
  if (threadIdx.x == 0) errors[blockIdx.x] = sqrt(error2 / expected2);
}

/// Block b: whether an infinity or a NaN is among its elements.
__global__ void find_nonfinite(const Half* out, int64_t num_elements, int64_t elements_a_block,
                               int32_t* found) {
  const int64_t first = blockIdx.x * elements_a_block;
  int any = 0;
  for (int64_t n = first + threadIdx.x; n < first + elements_a_block && n < num_elements;
       n += kThreads) {
    any |= (out[n].bits & 0x7C00) == 0x7C00;
  }
  any = __syncthreads_or(any);
  if (threadIdx.x == 0) found[blockIdx.x] = any;
}

template <typename T>
std::vector<T> to_host(const DeviceBuffer& buffer, int64_t count) {
  std::vector<T> values(static_cast<size_t>(count));
  check_cuda(
      cudaMemcpy(values.data(), buffer.begin(), values.size() * sizeof(T), cudaMemcpyDeviceToHost),
      "cudaMemcpy");
  return values;
}

}  // namespace

std::vector<RowIndex> sampled_rows(const BenchShape& shape) {
  const int64_t b = shape.batch_size - 1, i = shape.seqlen_q - 1, h = shape.num_heads - 1;
  return {{0, 0, 0}, {0, i, h}, {b / 2, i / 2, h / 3}, {b / 3, i / 3 * 2, h / 2},
          {b, 0, h}, {b, i, 0}};
}

double largest_row_error(const BenchInputs& inputs, int64_t copy,
                         const std::vector<RowIndex>& rows) {
  const AttentionParams params = inputs.params(copy);
  const NaiveCall call{inputs.shape(),
                       static_cast<const Half*>(params.q),
                       static_cast<const Half*>(params.k),
                       static_cast<const Half*>(params.v),
                       static_cast<const Half*>(params.out),
                       params.block_table,
                       1 / std::sqrt(static_cast<double>(inputs.shape().head_dim))};
  const auto count = static_cast<int64_t>(rows.size());
  const DeviceBuffer device_rows(count * static_cast<int64_t>(sizeof(RowIndex)));
  const DeviceBuffer weights(8 * count * inputs.shape().seqlen_k), errors(8 * count);
  check_cuda(cudaMemcpy(device_rows.begin(), rows.data(), rows.size() * sizeof(RowIndex),
                        cudaMemcpyHostToDevice),
             "cudaMemcpy");
  cudaLaunchConfig_t config = {};
  config.gridDim = dim3(static_cast<unsigned>(count));
  config.blockDim = dim3(kThreads);
  config.dynamicSmemBytes = kThreads * sizeof(double);
  check_cuda(cudaLaunchKernelEx(&config, &naive_row, call, pointer_to<RowIndex>(device_rows),
                                reinterpret_cast<double*>(weights.begin()),
                                reinterpret_cast<double*>(errors.begin())),
             "naive_row");
  double largest = 0;
  for (const double error : to_host<double>(errors, count)) {
    if (!(error <= largest)) largest = error;  // NaN stays: no comparison with it holds
    if (largest != largest) break;
  }
  return largest;
}

bool is_all_numbers(const BenchInputs& inputs) {
  const BenchShape& shape = inputs.shape();
  const int64_t num_elements = shape.batch_size * shape.seqlen_q * shape.num_heads * shape.head_dim;
  constexpr int64_t kElementsABlock = 64 * kThreads;
  const int64_t blocks = (num_elements + kElementsABlock - 1) / kElementsABlock;
  const DeviceBuffer found(4 * blocks);
  cudaLaunchConfig_t config = {};
  config.gridDim = dim3(static_cast<unsigned>(blocks));
  config.blockDim = dim3(kThreads);
  check_cuda(
      cudaLaunchKernelEx(&config, &find_nonfinite, static_cast<const Half*>(inputs.params(0).out),
                         num_elements, kElementsABlock, reinterpret_cast<int32_t*>(found.begin())),
      "find_nonfinite");
  return std::ranges::count(to_host<int32_t>(found, blocks), 0) == blocks;
}

}  // namespace flashcheck::bench
