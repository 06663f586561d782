#include "src/load/call_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <map>
#include <string_view>
#include <vector>

#include "src/load/args_reader.h"
#include "src/load/case_file_rules.h"
#include "src/load/case_keys.h"
#include "src/load/function_arguments.h"
#include "src/load/json_reader.h"
#include "src/load/layout_reader.h"
#include "src/load/tensor_reader.h"
#include "src/spec/checked.h"

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
}

/// Gives each tensor its storage: a declared one, or one of its own behind those.
class StorageReader {
 public:
  StorageReader(Case& c, Complaints& complaints) : c_(c), complaints_(complaints) {}

  void read_declared(const JsonValue& object) {
    if (!expect_object(object, complaints_)) return;
    for (const JsonValue* member : object.children) {
      if (!expect_id(*member, member->key, complaints_)) continue;
      if (!expect_object(*member, complaints_)) continue;
      expect_keys(*member, kStorageKeys, complaints_);
      const JsonValue* elements = require(*member, "elements", complaints_);
      const auto count = elements ? read_usize(*elements, complaints_) : std::nullopt;
      declared_.push_back({member->key, count.value_or(0)});
    }
  }

  /// `layout`, if not null, is the tensor's: its whole cache is what the tensor needs.
  void assign(const JsonValue& object, TensorName name, const CacheLayout* layout,
              TensorSpec& tensor) {
    const JsonValue* given = find_given(object, "storage");
    if (given && given->is_string()) {
      if (Declared* declared = find_declared(*given)) share(*declared, *given, tensor);
      return;
    }
    if (!given && layout && layout->has_one_tensor) {
      if (expect_addressable(layout->view.elements, tensor, object)) {
        share_cache(layout->view.elements, tensor);
      }
      return;
    }
    int64_t elements = elements_needed(tensor);
    if (layout && !given) {
      elements = layout->view.elements;
      if (!expect_addressable(elements, tensor, object)) return;
    }
    if (given) {
      if (!given->is_number()) {
        complaints_.add(complaint::kWrongType, *given,
                        "the name of an entry of `storages`, or a number of elements",
                        describe(*given, complaints_.text()));
        return;
      }
      const std::optional<int64_t> count = read_usize(*given, complaints_);
      if (!count || !expect_addressable(*count, tensor, *given)) return;
      elements = *count;
    }
    own(name, elements, tensor);
  }

  /// A storage of the tensor's own.
  void own(TensorName name, int64_t elements, TensorSpec& tensor) {
    tensor.storage = static_cast<int64_t>(c_.storages.size());
    c_.storages.push_back({std::string(name_of(name)), elements});
  }

 private:
  struct Declared {
    std::string_view name;
    int64_t elements;
    std::optional<int64_t> index = std::nullopt;  // into Case::storages, once a tensor views it
  };

  Declared* find_declared(const JsonValue& name) {
    const auto found = std::find_if(declared_.begin(), declared_.end(),
                                    [&](const Declared& d) { return d.name == name.text; });
    if (found != declared_.end()) return &*found;
    std::vector<std::string_view> known;
    for (const Declared& declared : declared_) known.push_back(declared.name);
    complaints_.add(complaint::kUnknownStorage, name,
                    known.empty()
                        ? "an entry of `storages`, which has none"
                        : fmt::format("an entry of `storages` ({})", fmt::join(known, ", ")),
                    in_quotes(name.text));
    return nullptr;
  }

  void share(Declared& declared, const JsonValue& at, TensorSpec& tensor) {
    if (!expect_addressable(declared.elements, tensor, at)) return;
    if (!declared.index) {
      declared.index = static_cast<int64_t>(c_.storages.size());
      c_.storages.push_back({std::string(declared.name), declared.elements});
    }
    tensor.storage = *declared.index;
  }

  /// k and v are in one storage, which is as large as the larger of their layouts.
  void share_cache(int64_t elements, TensorSpec& tensor) {
    if (!cache_) {
      cache_ = static_cast<int64_t>(c_.storages.size());
      c_.storages.push_back({"kv", 0});
    }
    int64_t& size = c_.storages[static_cast<size_t>(*cache_)].elements;
    size = std::max(size, elements);
    tensor.storage = *cache_;
  }

  bool expect_addressable(int64_t elements, const TensorSpec& tensor, const JsonValue& at) {
    if (checked_mul(elements, size_in_bytes(tensor.dtype))) return true;
    complaints_.add(complaint::kSizeOverflows, at, "a storage of at most 9223372036854775807 bytes",
                    fmt::format("{} elements of {}", elements, name_of(tensor.dtype)));
    return false;
  }

  Case& c_;
  Complaints& complaints_;
  std::vector<Declared> declared_;
  std::optional<int64_t> cache_;  // into Case::storages: that of k and v whose layout is one tensor
};

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
