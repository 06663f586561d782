#include "src/spec/dtype.h"

#include <array>
#include <cmath>

namespace flashcheck {
namespace {

struct DtypeRow {
  std::string_view name, rust_name;
  int64_t size_bytes;
  int precision_bits;     // of the significand, the hidden one included; 0: an integer
  int smallest_exponent;  // of the smallest subnormal
};

// In the order of the enumerators.
constexpr std::array<DtypeRow, 10> kRows{{
    {"u8", "U8", 1, 0, 0},
    {"u32", "U32", 4, 0, 0},
    {"i16", "I16", 2, 0, 0},
    {"i32", "I32", 4, 0, 0},
    {"i64", "I64", 8, 0, 0},
    {"bf16", "BF16", 2, 8, -133},
    {"f16", "F16", 2, 11, -24},
    {"f32", "F32", 4, 24, -149},
    {"f64", "F64", 8, 53, -1074},
    {"f8e4m3", "F8E4M3", 1, 4, -9},
}};

const DtypeRow& row_of(Dtype dtype) { return kRows[static_cast<size_t>(dtype)]; }

}  // namespace

std::string_view name_of(Dtype dtype) { return row_of(dtype).name; }
std::string_view rust_name_of(Dtype dtype) { return row_of(dtype).rust_name; }

std::optional<Dtype> parse_dtype(std::string_view name) {
  for (size_t i = 0; i < kRows.size(); ++i) {
    if (kRows[i].name == name) return static_cast<Dtype>(i);
  }
  return std::nullopt;
}

int64_t size_in_bytes(Dtype dtype) { return row_of(dtype).size_bytes; }
bool is_floating(Dtype dtype) { return row_of(dtype).precision_bits > 0; }
double unit_roundoff(Dtype dtype) { return std::ldexp(1.0, -row_of(dtype).precision_bits); }
double smallest_subnormal(Dtype dtype) { return std::ldexp(1.0, row_of(dtype).smallest_exponent); }

}  // namespace flashcheck
