#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace flashcheck {

/// Element types a case may name; candle-core/src/dtype.rs:7-38 has the same and four sub-byte
/// ones.
enum class Dtype : uint8_t { kU8, kU32, kI16, kI32, kI64, kBF16, kF16, kF32, kF64, kF8E4M3 };

/// "f16": as case files spell it.
std::string_view name_of(Dtype dtype);
/// "F16": as Rust's derived Debug prints candle's DType.
std::string_view rust_name_of(Dtype dtype);
/// Nothing if no dtype is spelled so.
std::optional<Dtype> parse_dtype(std::string_view name);

int64_t size_in_bytes(Dtype dtype);
bool is_floating(Dtype dtype);

/// Half the distance from 1 to the next larger value: 2^-11 for f16, 2^-8 for bf16, 2^-24 for f32.
/// Precondition: is_floating(dtype).
double unit_roundoff(Dtype dtype);
/// The distance between 0 and the smallest positive value. Precondition: is_floating(dtype).
double smallest_subnormal(Dtype dtype);

}  // namespace flashcheck
