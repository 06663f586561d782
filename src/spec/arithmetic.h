#pragma once

#include <cstdint>

namespace flashcheck {

/// The arithmetic a kernel is allowed to do, which decides the bound (docs/numerics.md). The
/// default is candle's: f32 accumulation, P rounded to the input's dtype before P.V.
struct Arithmetic {
  enum class Accumulate : uint8_t { kF32, kF16 };
  enum class P : uint8_t { kInput, kF32 };
  Accumulate accumulate = Accumulate::kF32;
  P p = P::kInput;
  /// kApproximate: the softcap's tanh is a GPU's tanh.approx.f32, good to 2^-11 only.
  enum class Tanh : uint8_t { kExact, kApproximate };
  Tanh tanh = Tanh::kExact;

  bool operator==(const Arithmetic&) const = default;
};

}  // namespace flashcheck
