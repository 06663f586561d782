// Any text is cases or complaints, never both and never neither, and a loaded case keeps the
// promises of src/spec. A text that begins with a newline is read as lines.

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "src/load/load.h"

namespace {

void require(bool condition) {
  if (!condition) std::abort();
}

void check(const flashcheck::TensorSpec& tensor, const flashcheck::Case& c) {
  require(tensor.strides.size() == tensor.shape.size());
  for (int64_t dim : tensor.shape) require(dim >= 0);
  for (int64_t stride : tensor.strides) require(stride >= 0);
  require(tensor.offset >= 0);
  const auto num_elements = tensor.num_elements();
  require(num_elements.has_value());
  require(tensor.span().has_value());
  require(tensor.storage >= 0 && tensor.storage < static_cast<int64_t>(c.storages.size()));
  require(c.storage_elements(tensor) >= 0);
  require(tensor.axes.empty() || tensor.axes.size() == tensor.shape.size());
  require(tensor.values != nullptr);
  if (const auto* literal = std::get_if<flashcheck::LiteralValues>(&*tensor.values)) {
    const bool is_floating = flashcheck::is_floating(tensor.dtype);
    require(static_cast<int64_t>(is_floating ? literal->floats.size() : literal->ints.size()) ==
            *num_elements);
    require((is_floating ? literal->ints.size() : literal->floats.size()) == 0);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* bytes, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(bytes), size);
  const flashcheck::LoadResult result =
      flashcheck::load_text(text, "nowhere/fuzz.json", text.starts_with('\n'));
  require(result.cases.empty() == !result.complaints.empty());
  require(result.complaints.size() <= 21);
  for (const auto& complaint : result.complaints) {
    require(complaint.source.line >= 1);
    require(!complaint.finding.message.empty());
    require(complaint.finding.message.size() < 10'000);
  }
  for (const flashcheck::Case& c : result.cases) {
    require(c.function != nullptr);
    require(!c.id.empty());
    for (const auto* tensor : {&c.q(), &c.k(), &c.v()}) check(*tensor, c);
    for (const auto& tensor : c.tensors) {
      if (tensor) check(*tensor, c);
    }
  }
  return 0;
}
