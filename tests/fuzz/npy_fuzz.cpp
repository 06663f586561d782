// Whatever a .npy header claims, the array lies inside the file.

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "src/load/npy.h"
#include "tests/fuzz/value_file_check.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* bytes, size_t size) {
  const std::string_view file(reinterpret_cast<const char*>(bytes), size);
  const auto file_bytes = static_cast<int64_t>(size);
  flashcheck::require_inside(flashcheck::parse_npy(file, file_bytes), file_bytes);
  return 0;
}
