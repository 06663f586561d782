#include "src/load/call_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#include "src/load/args_reader.h"
#include "src/load/case_file_rules.h"
#include "src/load/case_keys.h"
#include "src/load/function_arguments.h"
#include "src/load/json_reader.h"
#include "src/load/layout_reader.h"
#include "src/load/storage_reader.h"
#include "src/load/tensor_reader.h"

namespace flashcheck {
namespace {

const WrapperFunction* read_function(const JsonValue& object, Complaints& complaints) {
  const JsonValue* wrapper_name = require(object, "wrapper", complaints);
  const JsonValue* function_name = require(object, "function", complaints);
  if (!wrapper_name || !function_name) return nullptr;
  const std::optional<size_t> wrapper_index = read_word(*wrapper_name, kWrappers, complaints);
  const std::optional<std::string_view> name = read_string(*function_name, complaints);
  if (!wrapper_index || !name) return nullptr;
  const auto wrapper = static_cast<Wrapper>(*wrapper_index);
  if (const WrapperFunction* function = find_function(wrapper, *name)) return function;
  std::vector<std::string_view> known;
  for (const WrapperFunction& function : wrapper_functions()) {
    if (function.wrapper == wrapper) known.push_back(function.name);
  }
  complaints.add_unknown(complaint::kUnknownFunction, *function_name, known, *name);
  return nullptr;
}

void read_arithmetic(const JsonValue& object, Complaints& complaints, Arithmetic& arithmetic) {
  if (!expect_object(object, complaints)) return;
  expect_keys(object, kArithmeticKeys, complaints);
  if (const JsonValue* given = object.find("accumulate")) {
    const auto index = read_word(*given, kAccumulates, complaints);
    if (index) arithmetic.accumulate = static_cast<Arithmetic::Accumulate>(*index);
  }
  if (const JsonValue* given = object.find("p")) {
    const auto index = read_word(*given, kPs, complaints);
    if (index) arithmetic.p = static_cast<Arithmetic::P>(*index);
  }
  if (const JsonValue* given = object.find("tanh")) {
    const auto index = read_word(*given, kTanhs, complaints);
    if (index) arithmetic.tanh = static_cast<Arithmetic::Tanh>(*index);
  }
}

const JsonValue* find_page_table(const JsonValue& tensors) {
  const JsonValue* table = tensors.find(name_of(TensorName::kBlockTable));
  return table && find_given(*table, "from") ? table : nullptr;
}

/// The block table and the lengths that another form of a page table says.
void read_block_table_from(const JsonValue& tensors, StorageReader& storages, ValuesReader& values,
                           Complaints& complaints, Case& c) {
  const JsonValue& object = *find_page_table(tensors);
  if (const JsonValue* given = find_given(tensors, name_of(TensorName::kSeqlensK))) {
    complaints.add(complaint::kContradiction, *given,
                   "no seqlens_k beside the `from` of block_table, which has the lengths",
                   describe(*given, complaints.text()));
    return;
  }
  const std::optional<PageTable> table =
      read_page_table(object, c.args.page_block_size, complaints);
  if (!table) return;
  const std::vector<int64_t> lengths = cumulative(table->seqlens);
  if (lengths.back() > std::numeric_limits<uint32_t>::max()) {
    complaints.add(complaint::kValueOutOfRange, object, "lengths whose sum a u32 holds",
                   fmt::format("{} tokens", lengths.back()));
    return;
  }
  const auto rows = static_cast<int64_t>(table->rows.size());
  const LayoutView view{.shape = {rows, num_columns(*table)}, .strides = {num_columns(*table), 1}};
  std::optional<TensorSpec> block_table = read_tensor(object, &view, values, complaints);
  if (!block_table) return;
  if (is_floating(block_table->dtype) || size_in_bytes(block_table->dtype) < 4) {
    complaints.add_member(complaint::kValueOutOfRange, object, "dtype",
                          "u32, i32 or i64, which hold every page id",
                          in_quotes(name_of(block_table->dtype)));
    return;
  }
  const auto place = [&](TensorName name, TensorSpec tensor, std::vector<int64_t> elements) {
    tensor.values = std::make_shared<const Values>(LiteralValues{.ints = std::move(elements)});
    c.tensors[static_cast<size_t>(name)] = std::move(tensor);
  };
  TensorSpec seqlens_k{
      .dtype = Dtype::kU32, .shape = {rows + 1}, .strides = {1}, .device = block_table->device};
  storages.assign(object, TensorName::kBlockTable, nullptr, *block_table);
  storages.own(TensorName::kSeqlensK, rows + 1, seqlens_k);
  place(TensorName::kBlockTable, std::move(*block_table), padded_rows(*table));
  place(TensorName::kSeqlensK, std::move(seqlens_k), lengths);
}

void read_tensors(const JsonValue& object, StorageReader& storages, ValuesReader& values,
                  Complaints& complaints, Case& c) {
  if (!expect_object(object, complaints)) return;
  expect_keys(object, kTensorNames, complaints);
  for (int i = 0; i < kNumTensors; ++i) {
    const auto name = static_cast<TensorName>(i);
    const JsonValue* member = object.find(name_of(name));
    const Presence presence = c.function ? presence_of(*c.function, name) : Presence::kOptional;
    if (member && presence == Presence::kAbsent) {
      complaints.add(
          complaint::kNotTaken, *member,
          fmt::format("a tensor that {} takes ({})", c.function->name, tensors_of(*c.function)),
          in_quotes(name_of(name)));
    } else if (name == TensorName::kBlockTable && find_page_table(object)) {
      continue;  // read with the page size, after the arguments
    } else if (!member || member->is_null()) {
      if (presence != Presence::kRequired) continue;
      if (name == TensorName::kSeqlensK && find_page_table(object)) continue;
      complaints.add_member(complaint::kMissingArgument, object, name_of(name),
                            fmt::format("a tensor, which {} requires", c.function->name),
                            member ? "null" : "nothing");
    } else if (const JsonValue* from = find_given(*member, "from")) {
      complaints.add(complaint::kContradiction, *from, "a `from` on block_table alone",
                     fmt::format("one on {}", name_of(name)));
    } else {
      const bool has_layout = find_given(*member, "layout");
      const std::optional<CacheLayout> layout =
          has_layout ? read_layout(*member, name, complaints) : std::nullopt;
      if (has_layout && !layout) continue;
      std::optional<TensorSpec> tensor =
          read_tensor(*member, layout ? &layout->view : nullptr, values, complaints);
      if (!tensor) continue;
      storages.assign(*member, name, layout ? &*layout : nullptr, *tensor);
      c.tensors[static_cast<size_t>(i)] = std::move(*tensor);
    }
  }
}

}  // namespace

void read_call(const JsonValue& object, ValuesReader& values, Complaints& complaints, Case& c) {
  c.function = read_function(object, complaints);
  StorageReader storages(c, complaints);
  if (const JsonValue* given = object.find("storages")) storages.read_declared(*given);
  if (const JsonValue* given = require(object, "tensors", complaints)) {
    read_tensors(*given, storages, values, complaints, c);
  }
  if (const JsonValue* given = require(object, "args", complaints)) {
    read_args(*given, c.function, complaints, c.args);
  }
  const JsonValue* tensors = object.find("tensors");
  const bool takes_table =
      c.function && presence_of(*c.function, TensorName::kBlockTable) != Presence::kAbsent;
  if (tensors && takes_table && find_page_table(*tensors)) {
    read_block_table_from(*tensors, storages, values, complaints, c);
  }
  if (const JsonValue* given = object.find("arithmetic")) {
    read_arithmetic(*given, complaints, c.arithmetic);
  }
  if (const JsonValue* given = object.find("seed")) {
    c.seed = read_uint64(*given, complaints).value_or(0);
  }
}

}  // namespace flashcheck
