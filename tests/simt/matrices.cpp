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

struct Loaded {
  uint32_t* r;
  const std::byte* row;
};

std::string offset_text(const std::byte* address, const SharedMemory& shared) {
  return std::to_string(address - shared.begin()) + " of " + std::to_string(shared.bytes());
}

void check_row(const Warp& warp, int i) {
  const std::byte* row = warp.operands<Loaded>(i).row;
  const SharedMemory& shared = warp.block->shared();
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

struct Multiplied {
  float* c;
  const uint32_t* a;
  uint32_t b0, b1;
};

constexpr unsigned kM = 16, kN = 8, kK = 16;

/// The matrices whose fragments the lanes of a warp hold, in 16-bit elements.
struct Factors {
  uint16_t a[kM][kK];
  uint16_t b[kK][kN];
};

Factors gather_factors(const Warp& warp) {
  Factors factors;
  for (unsigned i = 0; i < kWarpSize; ++i) {
    const auto& lane = warp.operands<Multiplied>(static_cast<int>(i));
    const unsigned g = i / 4, t = i % 4;
    const auto put_a = [&](unsigned row, unsigned k, uint32_t both) {
      factors.a[row][k] = static_cast<uint16_t>(both);
      factors.a[row][k + 1] = static_cast<uint16_t>(both >> 16);
    };
    const auto put_b = [&](unsigned k, uint32_t both) {
      factors.b[k][g] = static_cast<uint16_t>(both);
      factors.b[k + 1][g] = static_cast<uint16_t>(both >> 16);
    };
    put_a(g, 2 * t, lane.a[0]);
    put_a(g + 8, 2 * t, lane.a[1]);
    put_a(g, 2 * t + 8, lane.a[2]);
    put_a(g + 8, 2 * t + 8, lane.a[3]);
    put_b(2 * t, lane.b0);
    put_b(2 * t + 8, lane.b1);
  }
  return factors;
}

template <typename T, std::size_t kRows, std::size_t kColumns>
void widen(const uint16_t (&bits)[kRows][kColumns], float (&values)[kRows][kColumns]) {
  for (std::size_t row = 0; row < kRows; ++row) {
    for (std::size_t column = 0; column < kColumns; ++column) {
      values[row][column] = to_float(T{bits[row][column]});
    }
  }
}

template <typename T>
void perform_multiply_add(Warp& warp, uint32_t) {
  const Factors factors = gather_factors(warp);
  float a[kM][kK], b[kK][kN], c[kM][kN];
  widen<T>(factors.a, a);
  widen<T>(factors.b, b);
  for (unsigned i = 0; i < kWarpSize; ++i) {
    const float* mine = warp.operands<Multiplied>(static_cast<int>(i)).c;
    std::memcpy(&c[i / 4][2 * (i % 4)], mine, 2 * sizeof(float));
    std::memcpy(&c[i / 4 + 8][2 * (i % 4)], mine + 2, 2 * sizeof(float));
  }
  for (unsigned row = 0; row < kM; ++row) {
    for (unsigned k = 0; k < kK; ++k) {
      for (unsigned n = 0; n < kN; ++n) c[row][n] += a[row][k] * b[k][n];
    }
  }
  for (unsigned i = 0; i < kWarpSize; ++i) {
    float* mine = warp.operands<Multiplied>(static_cast<int>(i)).c;
    std::memcpy(mine, &c[i / 4][2 * (i % 4)], 2 * sizeof(float));
    std::memcpy(mine + 2, &c[i / 4 + 8][2 * (i % 4)], 2 * sizeof(float));
  }
  if (Counters* counters = Counting::current()) ++counters->mma;
}

constexpr Collective kLoad{"ldmatrix_x4", &perform_load};
constexpr Collective kTransposedLoad{"ldmatrix_x4_trans", &perform_transposed_load};
template <typename T>
constexpr Collective kMultiplyAdd{"mma_m16n8k16", &perform_multiply_add<T>};

}  // namespace

void load_matrices(uint32_t (&r)[4], const void* row, bool transposed, Site site) {
  Loaded operands{r, static_cast<const std::byte*>(row)};
  current_lane->meet(transposed ? kTransposedLoad : kLoad, kWholeWarp, &operands, site);
}

template <typename T>
void multiply_add(float (&c)[4], const uint32_t (&a)[4], uint32_t b0, uint32_t b1, Site site) {
  Multiplied operands{c, a, b0, b1};
  current_lane->meet(kMultiplyAdd<T>, kWholeWarp, &operands, site);
}

template void multiply_add<Half>(float (&)[4], const uint32_t (&)[4], uint32_t, uint32_t, Site);
template void multiply_add<BFloat16>(float (&)[4], const uint32_t (&)[4], uint32_t, uint32_t, Site);

}  // namespace simt
