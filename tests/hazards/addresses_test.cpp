#include "src/hazards/addresses.h"

#include <doctest/doctest.h>

#include "src/hazards/tile_sizes.h"

using namespace flashcheck;

TEST_CASE("an address is the sum of its products, in 64 bits") {
  const Address address = address_of(4096, {{"page", 12, 8192}, {"row", 3, 128}});
  CHECK(address.element == 4096 + 12 * 8192 + 3 * 128);
  CHECK(address.sum == "offset 4096 + page 12 * 8192 + row 3 * 128");
  CHECK(address_of(0, {{"page", 3, 8192}}).sum == "page 3 * 8192");
  CHECK(address_of(0, {{"page", 1'000'000, int64_t{1} << 32}}).element == 4294967296000000);
}

TEST_CASE("an address that does not fit 64 bits is none") {
  const Address address = address_of(0, {{"row", int64_t{1} << 40, int64_t{1} << 40}});
  CHECK_FALSE(address.element);
  CHECK_FALSE(address.is_inside(int64_t{1} << 62));
  CHECK(against_storage(address, 10) == "row 1099511627776 * 1099511627776 is more than 2^63");
}

TEST_CASE("an address is held against its storage at both ends") {
  const Address last = address_of(0, {{"row", 7, 512}});
  CHECK(last.is_inside(3585));
  CHECK_FALSE(last.is_inside(3584));
  CHECK(against_storage(last, 3584) == "row 7 * 512 = element 3584, past its storage of 3584");
  CHECK(against_storage(last, 4096) ==
        "row 7 * 512 = element 3584, inside its storage of 4096 but outside the view");
  const Address before = address_of(0, {{"page", -1, 4096}});
  CHECK_FALSE(before.is_inside(4096));
  CHECK(against_storage(before, 4096) == "page -1 * 4096 = element -4096, before its storage");
}

TEST_CASE("tiles are those of candle's launchers") {
  const WrapperFunction& flat = *find_function(Wrapper::kCandleFlashAttn, "flash_attn_varlen");
  const WrapperFunction& paged =
      *find_function(Wrapper::kCandleFlashAttn, "flash_attn_varlen_paged_windowed");
  const WrapperFunction& v3 = *find_function(Wrapper::kCandleFlashAttnV3, "flash_attn_varlen");
  const auto tile = [](const WrapperFunction& function, uint32_t d, uint32_t seqlen_q = 1,
                       int32_t is_causal = 0) {
    const TileSizes sizes =
        tile_sizes(function, {.d = d, .seqlen_q = seqlen_q, .is_causal = is_causal});
    return std::vector<int64_t>{sizes.min_query_rows, sizes.max_query_rows, sizes.key_rows};
  };
  CHECK(tile(flat, 64) == std::vector<int64_t>{128, 128, 128});
  CHECK(tile(flat, 72) == std::vector<int64_t>{128, 128, 64});
  CHECK(tile(flat, 128, 1, 1) == std::vector<int64_t>{64, 128, 64});
  CHECK(tile(flat, 192, 1, 1) == std::vector<int64_t>{128, 128, 64});
  CHECK(tile(flat, 200) == std::vector<int64_t>{64, 128, 64});
  CHECK(tile(flat, 264) == std::vector<int64_t>{32, 64, 32});
  CHECK(tile(paged, 256) == std::vector<int64_t>{64, 64, 32});
  CHECK(tile(paged, 264) == std::vector<int64_t>{32, 64, 32});
  CHECK(tile(v3, 64, 64) == std::vector<int64_t>{64, 64, 128});
  CHECK(tile(v3, 64, 65) == std::vector<int64_t>{128, 128, 128});
  CHECK(tile(v3, 64, 129) == std::vector<int64_t>{192, 192, 128});
  CHECK(tile(v3, 128, 129) == std::vector<int64_t>{128, 128, 176});
  CHECK(tile(v3, 256, 64) == std::vector<int64_t>{64, 64, 96});
  CHECK(tile(v3, 256, 65) == std::vector<int64_t>{128, 128, 80});
}
