#include <fmt/format.h>

#include "src/contract/rules.h"
#include "src/contract/text.h"
#include "src/spec/checked.h"

namespace flashcheck {
namespace {

constexpr int64_t kPageMultiple = 32;

Facts page_block_size_differs(const Call& call, TensorName) {
  const std::vector<int64_t>& k = call.c.k().shape;
  const int64_t page_block_size = call.c.args.page_block_size;
  Facts facts{
      .where = "/args/page_block_size",
      .args = {{"page_block_size", std::to_string(page_block_size)}, {"k_shape", rust_list(k)}}};
  if (k[2] == page_block_size) {
    facts.fix = fmt::format(
        "Axis 2 of k is {}, axis 1 is {}: heads and page rows are exchanged. `k.transpose(1, 2)?` "
        "gives {}, v likewise; no copy is needed.",
        k[2], k[1], rust_list(transposed(k, 1, 2)));
    facts.transposes = {{TensorName::kK, 1, 2}};
    if (call.c.v().shape == k) facts.transposes.push_back({TensorName::kV, 1, 2});
    return facts;
  }
  const int64_t rows = checked_mul(k[0], k[1]).value_or(0);
  if (k[1] % kPageMultiple != 0) {
    facts.fix = fmt::format("k has pages of {} rows (axis 1), and only multiples of {} are taken",
                            k[1], kPageMultiple);
    if (page_block_size > 0 && page_block_size % kPageMultiple == 0) {
      const int64_t pages = rows / page_block_size + (rows % page_block_size != 0);
      facts.fix +=
          fmt::format(": allocate k and v as {}", rust_list({pages, page_block_size, k[2], k[3]}));
    }
    facts.fix += ".";
    return facts;
  }
  facts.fix = fmt::format("k has pages of {0} rows (axis 1): pass page_block_size {0}.", k[1]);
  if (page_block_size > 0 && page_block_size % kPageMultiple == 0 && rows > 0 &&
      rows % page_block_size == 0) {
    facts.fix += fmt::format(
        " If the block table counts pages of {0}, reshape k and v to {1} instead.", page_block_size,
        rust_list({rows / page_block_size, page_block_size, k[2], k[3]}));
  }
  return facts;
}

Facts not_multiple_of_32(const Call& call, TensorName) {
  const std::vector<int64_t>& k = call.c.k().shape;
  const int64_t below = k[1] / kPageMultiple * kPageMultiple;
  const std::optional<int64_t> rows = checked_mul(k[0], k[1]);
  Facts facts{.where = "/args/page_block_size",
              .args = {{"page_block_size", std::to_string(k[1])}}};
  if (!rows || below > INT32_MAX) return facts;  // no pool of that size exists
  const int64_t above = below + kPageMultiple;
  facts.fix = below == 0 ? fmt::format("Use pages of {}", above)
                         : fmt::format("Use pages of {} or {}", below, above);
  facts.fix += ": allocate k and v as ";
  const int64_t pages = *rows / above + (*rows % above != 0);
  facts.fix +=
      fmt::format("{} and fill the block table anew.", rust_list({pages, above, k[2], k[3]}));
  if (above % k[1] == 0) {
    facts.fix += fmt::format(
        " Pages of {} cannot be merged in place unless each run of {} that a sequence uses lies in "
        "order in the pool.",
        k[1], above / k[1]);
  }
  facts.fix += " Pages of 256 suit candle and engines that want a multiple of 16, 128 or 256.";
  return facts;
}

}  // namespace

constinit const ContractRule kPageBlockSizeDiffersFromKeys{
    .rule = {.code = "FC-E501",
             .name = "page-block-size-differs-from-keys",
             .message = "page_block_size {page_block_size} does not match k shape {k_shape}",
             .why = "The kernel finds row i of a sequence in page i / page_block_size, and axis 1 "
                    "of k is the rows of a page, so the two must be one number. Pools that keep "
                    "heads before rows, and a cache manager's block size that is not the kernel's, "
                    "get here.",
             .fix = "Pass axis 1 of k as page_block_size, or transpose the pool to (pages, rows, "
                    "heads, head_dim).",
             .source = "candle-flash-attn/src/lib.rs:571-576"},
    .fails =
        [](const Call& call, TensorName) {
          return call.has_expected_rank(TensorName::kK) &&
                 call.c.args.page_block_size != call.c.k().shape[1];
        },
    .facts = page_block_size_differs};

constinit const ContractRule kPageBlockSizeNotMultipleOf32{
    .rule = {.code = "FC-E502",
             .name = "page-block-size-not-multiple-of-32",
             .message = "paged flash-attn requires page_block_size to be a multiple of 32 (got "
                        "{page_block_size})",
             .why = "A tile of the paged kernel has 32 key rows and must not straddle two pages. "
                    "The 16 rows a page that vLLM defaults to are too few. (0 passes this check.)",
             .fix = "Allocate the pool with pages of 32 rows, or of a multiple of 32: 256 suits "
                    "candle and "
                    "engines that want a multiple of 16, 128 or 256.",
             .source = "candle-flash-attn/src/lib.rs:577-581"},
    .fails =
        [](const Call& call, TensorName) {
          // Where argument and k disagree, it is the better of the two that will stay.
          return call.has_expected_rank(TensorName::kK) &&
                 call.c.k().shape[1] % kPageMultiple != 0 &&
                 call.c.args.page_block_size % kPageMultiple != 0;
        },
    .facts = not_multiple_of_32};

}  // namespace flashcheck
