#include "tests/simt/matrices.h"

#include <array>
#include <cstring>

#include "tests/simt/block.h"
#include "tests/simt/error.h"

namespace simt {
namespace {

using flashcheck::BFloat16;
using flashcheck::Half;

constexpr std::size_t kRowBytes = 16;

std::string offset_text(const std::byte* address, const GuardedMemory& shared) {
  return std::to_string(address - shared.begin()) + " of " + std::to_string(shared.bytes());
}

void check_row(const Warp& warp, int i) {
  const std::byte* row = warp.operands<Loaded>(i).row;
  const GuardedMemory& shared = warp.block->shared();
  const Arrival& arrival = warp.lane(i).arrival;
  const char* complaint = nullptr;
  if (!shared.contains(row, kRowBytes)) complaint = "reads beyond shared memory: 16 bytes from ";
  if (reinterpret_cast<std::uintptr_t>(row) % kRowBytes != 0) {
    complaint = "reads an address that is no multiple of 16: byte ";
  }
  if (complaint != nullptr) {
    throw Error(warp.lane(i).name(arrival.collective->name, arrival.site) + complaint +
                offset_text(row, shared));
  }
}

/// What all lanes read: rows 8 m to 8 m + 7 are matrix m.
using Rows = std::array<std::array<uint16_t, 8>, kWarpSize>;

Rows read_rows(Warp& warp) {
  Rows rows;
  std::array<const void*, kWarpSize> addresses;
  for (int i = 0; i < kWarpSize; ++i) {
    check_row(warp, i);
    const std::byte* row = warp.operands<Loaded>(i).row;
    std::memcpy(rows[static_cast<unsigned>(i)].data(), row, kRowBytes);
    addresses[static_cast<unsigned>(i)] = row;
  }
  if (Counters* counters = Counting::current()) {
    ++counters->ldmatrix;
    count_shared(addresses, counters->ldmatrix_reads);
  }
  return rows;
}

uint32_t pair(uint16_t low, uint16_t high) { return uint32_t{high} << 16 | low; }

void perform_load(Warp& warp, uint32_t) {
  const Rows rows = read_rows(warp);
  for (unsigned i = 0; i < kWarpSize; ++i) {
    uint32_t* r = warp.operands<Loaded>(static_cast<int>(i)).r;
    const unsigned row = i / 4, column = 2 * (i % 4);
    for (unsigned m = 0; m < 4; ++m) {
      r[m] = pair(rows[8 * m + row][column], rows[8 * m + row][column + 1]);
    }
  }
}

void perform_transposed_load(Warp& warp, uint32_t) {
  const Rows rows = read_rows(warp);
  for (unsigned i = 0; i < kWarpSize; ++i) {
    uint32_t* r = warp.operands<Loaded>(static_cast<int>(i)).r;
    const unsigned row = i / 4, column = 2 * (i % 4);
    for (unsigned m = 0; m < 4; ++m) {
      r[m] = pair(rows[8 * m + column][row], rows[8 * m + column + 1][row]);
    }
  }
}

constexpr unsigned kM = 16, kN = 8, kK = 16;

/// The matrices whose fragments the lanes of a warp hold. k = 2 p and 2 p + 1 share a word.
struct Factors {
  uint32_t a[kM][kK / 2];
  uint32_t b[kK / 2][kN];
};

Factors gather_factors(const Warp& warp) {
  Factors factors;
  for (unsigned i = 0; i < kWarpSize; ++i) {
    const auto& lane = warp.operands<Multiplied>(static_cast<int>(i));
    const unsigned g = i / 4, t = i % 4;
    factors.a[g][t] = lane.a[0];
    factors.a[g + 8][t] = lane.a[1];
    factors.a[g][t + 4] = lane.a[2];
    factors.a[g + 8][t + 4] = lane.a[3];
    factors.b[t][g] = lane.b0;
    factors.b[t + 4][g] = lane.b1;
  }
  return factors;
}

/// What the lower and the upper halves of words stand for.
template <std::size_t kRows, std::size_t kColumns>
struct Halves {
  float low[kRows][kColumns], high[kRows][kColumns];

  template <typename T>
  static Halves of(const uint32_t (&words)[kRows][kColumns]) {
    Halves halves;
    for (std::size_t row = 0; row < kRows; ++row) {
      for (std::size_t column = 0; column < kColumns; ++column) {
        const uint32_t word = words[row][column];
        halves.low[row][column] = to_float(T{static_cast<uint16_t>(word)});
        halves.high[row][column] = to_float(T{static_cast<uint16_t>(word >> 16)});
      }
    }
    return halves;
  }
};

template <typename T>
void perform_multiply_add(Warp& warp, uint32_t) {
  const Factors factors = gather_factors(warp);
  const auto a = Halves<kM, kK / 2>::of<T>(factors.a);
  const auto b = Halves<kK / 2, kN>::of<T>(factors.b);
  float c[kM][kN];
  for (unsigned i = 0; i < kWarpSize; ++i) {
    const float* mine = warp.operands<Multiplied>(static_cast<int>(i)).c;
    std::memcpy(&c[i / 4][2 * (i % 4)], mine, 2 * sizeof(float));
    std::memcpy(&c[i / 4 + 8][2 * (i % 4)], mine + 2, 2 * sizeof(float));
  }
  for (unsigned row = 0; row < kM; ++row) {
    for (unsigned p = 0; p < kK / 2; ++p) {
      for (unsigned n = 0; n < kN; ++n) c[row][n] += a.low[row][p] * b.low[p][n];
      for (unsigned n = 0; n < kN; ++n) c[row][n] += a.high[row][p] * b.high[p][n];
    }
  }
  for (unsigned i = 0; i < kWarpSize; ++i) {
    float* mine = warp.operands<Multiplied>(static_cast<int>(i)).c;
    std::memcpy(mine, &c[i / 4][2 * (i % 4)], 2 * sizeof(float));
    std::memcpy(mine + 2, &c[i / 4 + 8][2 * (i % 4)], 2 * sizeof(float));
  }
  if (Counters* counters = Counting::current()) ++counters->mma;
}

}  // namespace

constinit const Collective kLoad{"ldmatrix_x4", &perform_load};
constinit const Collective kTransposedLoad{"ldmatrix_x4_trans", &perform_transposed_load};
constinit const Collective kMultiplyAddHalf{"mma_m16n8k16", &perform_multiply_add<Half>};
constinit const Collective kMultiplyAddBFloat16{"mma_m16n8k16", &perform_multiply_add<BFloat16>};

}  // namespace simt
