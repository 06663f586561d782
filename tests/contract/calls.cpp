#include "tests/contract/calls.h"

#include <memory>
#include <utility>

namespace flashcheck {
namespace {

Case call_of(Wrapper wrapper, std::string_view function) {
  Case c;
  c.function = find_function(wrapper, function);
  c.args.softmax_scale = 0.125f;
  return c;
}

void fit_storage(Case& c, const TensorSpec& tensor) {
  c.storages[static_cast<size_t>(tensor.storage)].elements = tensor.offset + *tensor.span();
}

}  // namespace

TensorSpec& tensor(Case& c, TensorName name) { return *c.tensors[static_cast<size_t>(name)]; }

void put(Case& c, TensorName name, Dtype dtype, std::vector<int64_t> shape) {
  TensorSpec spec{.dtype = dtype, .storage = static_cast<int64_t>(c.storages.size())};
  c.storages.push_back({std::string(name_of(name)), 0});
  c.tensors[static_cast<size_t>(name)] = spec;
  reshape(c, name, std::move(shape));
}

void reshape(Case& c, TensorName name, std::vector<int64_t> shape) {
  TensorSpec& spec = tensor(c, name);
  spec.strides = *contiguous_strides(shape);
  spec.shape = std::move(shape);
  fit_storage(c, spec);
}

void restride(Case& c, TensorName name, std::vector<int64_t> strides) {
  TensorSpec& spec = tensor(c, name);
  spec.strides = std::move(strides);
  fit_storage(c, spec);
}

void write_out(Case& c, TensorName name, std::vector<int64_t> values) {
  tensor(c, name).values = std::make_shared<const Values>(LiteralValues{std::move(values), {}});
}

Case fixed_call(Wrapper wrapper, std::string_view function) {
  Case c = call_of(wrapper, function);
  put(c, TensorName::kQ, Dtype::kF16, {2, 4, 8, 64});
  put(c, TensorName::kK, Dtype::kF16, {2, 6, 2, 64});
  put(c, TensorName::kV, Dtype::kF16, {2, 6, 2, 64});
  return c;
}

Case varlen_call(Wrapper wrapper, std::string_view function) {
  Case c = call_of(wrapper, function);
  put(c, TensorName::kQ, Dtype::kF16, {7, 8, 64});
  put(c, TensorName::kK, Dtype::kF16, {9, 2, 64});
  put(c, TensorName::kV, Dtype::kF16, {9, 2, 64});
  put(c, TensorName::kSeqlensQ, Dtype::kU32, {3});
  put(c, TensorName::kSeqlensK, Dtype::kU32, {3});
  write_out(c, TensorName::kSeqlensQ, {0, 3, 7});
  write_out(c, TensorName::kSeqlensK, {0, 4, 9});
  c.args.max_seqlen_q = 4;
  c.args.max_seqlen_k = 5;
  return c;
}

Case paged_call(Wrapper wrapper) {
  Case c = varlen_call(wrapper, "flash_attn_varlen_paged_windowed");
  reshape(c, TensorName::kK, {5, 32, 2, 64});
  reshape(c, TensorName::kV, {5, 32, 2, 64});
  put(c, TensorName::kBlockTable, Dtype::kU32, {2, 3});
  write_out(c, TensorName::kBlockTable, {3, 1, 0, 4, 2, 0});
  c.args.page_block_size = 32;
  return c;
}

Case fixed_alibi_call(Wrapper wrapper) {
  Case c = fixed_call(wrapper, "flash_attn_alibi");
  put(c, TensorName::kAlibiSlopes, Dtype::kF32, {8});
  return c;
}

Case varlen_alibi_call(Wrapper wrapper) {
  Case c = varlen_call(wrapper, "flash_attn_varlen_alibi");
  put(c, TensorName::kAlibiSlopes, Dtype::kF32, {8});
  return c;
}

Case paged_ranges_call() {
  Case c = paged_call();
  put(c, TensorName::kMmPrefixRanges, Dtype::kI32, {2, 1, 2});
  return c;
}

}  // namespace flashcheck
