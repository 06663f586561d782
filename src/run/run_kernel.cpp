#include "src/run/run_kernel.h"

#include <cstring>
#include <set>
#include <vector>

namespace flashcheck {
namespace {

constexpr int64_t kGuardBytes = 4096;
// A NaN in f16, bf16 and f32 alike, and not the one that arithmetic makes.
constexpr uint16_t kPoison = 0xFFFD;

/// An output with a guard before and behind it, all of it poison.
class GuardedBuffer {
 public:
  explicit GuardedBuffer(int64_t size_bytes)
      : size_bytes_(size_bytes), all_(kGuardBytes * 2 + size_bytes) {
    for (int64_t i = 0; i + 1 < all_.size_bytes(); i += 2) {
      std::memcpy(all_.begin() + i, &kPoison, sizeof(kPoison));
    }
  }

  std::byte* begin() { return all_.begin() + kGuardBytes; }
  const StorageBytes& all() const { return all_; }
  HostRegion region() { return {all_.begin(), all_.size_bytes(), /*is_written=*/true}; }
  int64_t first_element(int64_t element_bytes) const { return kGuardBytes / element_bytes; }

  /// Elements that still hold the poison. `element_bytes` is 2 or 4.
  int64_t num_unwritten(int64_t element_bytes) const {
    int64_t count = 0;
    for (int64_t at = 0; at < size_bytes_; at += element_bytes) {
      bool is_poison = true;
      for (int64_t i = 0; i < element_bytes; i += 2)
        is_poison &= holds_poison(kGuardBytes + at + i);
      count += is_poison;
    }
    return count;
  }

  int64_t num_guard_bytes_changed() const {
    int64_t count = 0;
    for (int64_t at = 0; at < kGuardBytes; at += 2) {
      count += holds_poison(at) ? 0 : 2;
      count += holds_poison(kGuardBytes + size_bytes_ + at) ? 0 : 2;
    }
    return count;
  }

 private:
  bool holds_poison(int64_t at) const {
    return std::memcmp(all_.begin() + at, &kPoison, sizeof(kPoison)) == 0;
  }

  int64_t size_bytes_;
  StorageBytes all_;
};

template <typename T>
const T* pointer_into(const Case& c, const Inputs& inputs, TensorName name,
                      const std::optional<int64_t>& offset_bytes) {
  if (!offset_bytes) return nullptr;
  const StorageBytes& storage = inputs.storages[static_cast<size_t>(c.at(name).storage)];
  return reinterpret_cast<const T*>(storage.begin() + *offset_bytes);
}

/// The storages that the launch may point into; each once, however many tensors share it.
std::vector<HostRegion> read_regions(const Case& c, const Inputs& inputs) {
  std::set<int64_t> storages;
  for (const TensorName name :
       {TensorName::kQ, TensorName::kK, TensorName::kV, TensorName::kSeqlensQ,
        TensorName::kSeqlensK, TensorName::kAlibiSlopes, TensorName::kBlockTable,
        TensorName::kMmPrefixRanges}) {
    if (const TensorSpec* tensor = c.find(name)) storages.insert(tensor->storage);
  }
  std::vector<HostRegion> regions;
  for (const int64_t storage : storages) {
    const StorageBytes& bytes = inputs.storages[static_cast<size_t>(storage)];
    // A region that is not written is not written through this pointer either.
    regions.push_back({const_cast<std::byte*>(bytes.begin()), bytes.size_bytes()});
  }
  return regions;
}

std::vector<double> read_all(const StorageBytes& storage, Dtype dtype, int64_t first,
                             int64_t count) {
  std::vector<double> values(static_cast<size_t>(count));
  for (int64_t i = 0; i < count; ++i) {
    values[static_cast<size_t>(i)] = read_element(storage, dtype, first + i);
  }
  return values;
}

/// Logical order through the declared strides.
std::vector<double> read_view(const TensorSpec& tensor, const StorageBytes& storage) {
  std::vector<double> values;
  for_each_element(tensor,
                   [&](int64_t at) { values.push_back(read_element(storage, tensor.dtype, at)); });
  return values;
}

}  // namespace

AttentionParams attention_params(const Case& c, const LaunchParams& launch, const Inputs& inputs) {
  AttentionParams params{.launch = launch, .dtype = c.q().dtype};
  params.q = pointer_into<void>(c, inputs, TensorName::kQ, launch.q_offset_bytes);
  params.k = pointer_into<void>(c, inputs, TensorName::kK, launch.k_offset_bytes);
  params.v = pointer_into<void>(c, inputs, TensorName::kV, launch.v_offset_bytes);
  params.cu_seqlens_q =
      pointer_into<int32_t>(c, inputs, TensorName::kSeqlensQ, launch.cu_seqlens_q_offset_bytes);
  params.cu_seqlens_k =
      pointer_into<int32_t>(c, inputs, TensorName::kSeqlensK, launch.cu_seqlens_k_offset_bytes);
  params.alibi_slopes =
      pointer_into<float>(c, inputs, TensorName::kAlibiSlopes, launch.alibi_slopes_offset_bytes);
  params.block_table =
      pointer_into<int32_t>(c, inputs, TensorName::kBlockTable, launch.block_table_offset_bytes);
  params.mm_prefix_ranges = pointer_into<int32_t>(c, inputs, TensorName::kMmPrefixRanges,
                                                  launch.mm_prefix_ranges_offset_bytes);
  params.rounds_p = c.arithmetic.p == Arithmetic::P::kInput;
  return params;
}

Output run_kernel(const Case& c, AttentionParams params, const Inputs& inputs,
                  const DeviceChoice& on, int num_threads) {
  const Dtype dtype = params.dtype;
  const int64_t num_elements = *c.q().num_elements();
  const int64_t num_rows = num_elements / c.q().shape.back();
  GuardedBuffer out(num_elements * size_in_bytes(dtype));
  GuardedBuffer lse(num_rows * static_cast<int64_t>(sizeof(float)));
  params.out = out.begin();
  params.lse = reinterpret_cast<float*>(lse.begin());

  std::vector<HostRegion> regions = read_regions(c, inputs);
  regions.push_back(out.region());
  regions.push_back(lse.region());
  on.backend->run(params, {.num_threads = num_threads, .device = on.device, .regions = regions});

  Output output{.dtype = dtype};
  const int64_t element_bytes = size_in_bytes(dtype);
  output.out = read_all(out.all(), dtype, out.first_element(element_bytes), num_elements);
  output.num_unwritten = out.num_unwritten(element_bytes);
  output.num_guard_bytes_changed = out.num_guard_bytes_changed() + lse.num_guard_bytes_changed();
  output.lse.resize(static_cast<size_t>(num_rows));
  std::memcpy(output.lse.data(), lse.begin(), output.lse.size() * sizeof(float));
  return output;
}

Output dumped_output(const Case& c, const Inputs& inputs) {
  const TensorSpec& out = c.at(TensorName::kOut);
  Output output{.dtype = out.dtype,
                .out = read_view(out, inputs.storages[static_cast<size_t>(out.storage)])};
  if (const TensorSpec* lse = c.find(TensorName::kLse)) {
    for (double value : read_view(*lse, inputs.storages[static_cast<size_t>(lse->storage)])) {
      output.lse.push_back(static_cast<float>(value));
    }
  }
  return output;
}

}  // namespace flashcheck
