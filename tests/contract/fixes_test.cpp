#include <doctest/doctest.h>

#include "src/contract/contract.h"
#include "tests/contract/calls.h"

namespace flashcheck {
namespace {

constexpr auto kQ = TensorName::kQ;
constexpr auto kK = TensorName::kK;
constexpr auto kV = TensorName::kV;
constexpr auto kSeqlensQ = TensorName::kSeqlensQ;
constexpr auto kSeqlensK = TensorName::kSeqlensK;
constexpr auto kBlockTable = TensorName::kBlockTable;
constexpr auto kMmPrefixRanges = TensorName::kMmPrefixRanges;
constexpr auto kAlibiSlopes = TensorName::kAlibiSlopes;
constexpr auto kV3 = Wrapper::kCandleFlashAttnV3;

void reshape_kv(Case& c, const std::vector<int64_t>& shape) {
  reshape(c, kK, shape);
  reshape(c, kV, shape);
}

/// What to try for the first finding.
std::string fix_of(const Case& c) {
  const Outcome outcome = check_contract(c);
  REQUIRE_FALSE(outcome.findings.empty());
  const Finding& first = outcome.findings.front();
  return first.fix.empty() ? std::string(first.rule->fix) : first.fix;
}

}  // namespace

TEST_CASE("fixes of ranks") {
  SUBCASE("a contiguous cache passed with a block table") {
    Case c = paged_call();
    reshape_kv(c, {128, 2, 64});
    CHECK(fix_of(c) ==
          "k is [128, 2, 64], (pages, page_block_size, heads, head_dim) is wanted: reshape k to "
          "[4, 32, 2, 64]: page p holds rows 32*p and following; v likewise.");
    reshape_kv(c, {130, 2, 64});
    CHECK(fix_of(c) ==
          "k is [130, 2, 64], (pages, page_block_size, heads, head_dim) is wanted: pad k from 130 "
          "to 160 rows, `k.pad_with_zeros(0, 0, 30)?`, and reshape it to [5, 32, 2, 64]; v "
          "likewise.");
  }
  SUBCASE("a contiguous cache and a page size that is refused next") {
    Case c = paged_call();
    reshape_kv(c, {128, 2, 64});
    c.args.page_block_size = 16;
    CHECK(
        fix_of(c) ==
        "k is [128, 2, 64], (pages, page_block_size, heads, head_dim) is wanted: reshape k to "
        "[4, 32, 2, 64] and pass page_block_size 32, a multiple of 32: page p holds rows 32*p and "
        "following; v likewise.");
  }
  SUBCASE("a cache packed as (page, head, head_dim/x, row, x)") {
    Case c = paged_call();
    reshape(c, kK, {5, 2, 8, 32, 8});
    CHECK(fix_of(c) ==
          "k is [5, 2, 8, 32, 8], (pages, page_block_size, heads, head_dim) is wanted: unpack k "
          "from (page, head, head_dim/8, row, 8): `k.permute((0, 3, 1, 2, 4))?.reshape((5, 32, 2, "
          "64))?`.");
  }
  SUBCASE("a batch dim too many") {
    Case c = varlen_call();
    reshape(c, kQ, {1, 7, 8, 64});
    CHECK(fix_of(c) ==
          "q is [1, 7, 8, 64], (rows, heads, head_dim) is wanted: flatten [1, 7, 8, 64] to [7, 8, "
          "64]: `q.flatten(0, 1)?`.");
  }
  SUBCASE("heads merged into the last dim") {
    Case c = varlen_call();
    reshape_kv(c, {9, 128});
    CHECK(fix_of(c) ==
          "k is [9, 128], (rows, heads, head_dim) is wanted: split its last dim into 2 heads of "
          "64: reshape k to [9, 2, 64]; v likewise.");
  }
  SUBCASE("no batch dim") {
    Case c = fixed_call();
    reshape(c, kQ, {4, 8, 64});
    reshape_kv(c, {1, 6, 2, 64});
    CHECK(fix_of(c) ==
          "q is [4, 8, 64], (batch, rows, heads, head_dim) is wanted: add the batch dim: "
          "`q.unsqueeze(0)?` gives [1, 4, 8, 64].");
  }
  SUBCASE("no batch dim, and the rows of one entry") {
    Case c = fixed_call();
    reshape(c, kQ, {16, 8, 64});
    reshape_kv(c, {2, 16, 2, 64});
    CHECK(fix_of(c) ==
          "q is [16, 8, 64], (batch, rows, heads, head_dim) is wanted: q's 16 rows are those of "
          "one batch entry and k has 2: pass q with its batch, [2, 16, 8, 64]; or reshape q to [2, "
          "8, 8, 64], if its rows are the 2 sequences one after the other.");
    reshape(c, kQ, {15, 8, 64});
    reshape_kv(c, {2, 15, 2, 64});
    CHECK(fix_of(c) ==
          "q is [15, 8, 64], (batch, rows, heads, head_dim) is wanted: q's 15 rows are those of "
          "one batch entry and k has 2: pass q with its batch, [2, 15, 8, 64].");
    reshape(c, kQ, {16, 8, 64});
    CHECK(fix_of(c) ==
          "q is [16, 8, 64], (batch, rows, heads, head_dim) is wanted: reshape q to [2, 8, 8, 64], "
          "the batch of the others.");
  }
  SUBCASE("small tensors") {
    Case c = paged_ranges_call();
    reshape(c, kBlockTable, {6});
    CHECK(fix_of(c) == "Reshape block_table to [2, 3]: one row a sequence.");
    reshape(c, kBlockTable, {2, 3});
    reshape(c, kMmPrefixRanges, {2, 4});
    CHECK(fix_of(c) == "Reshape mm_prefix_ranges to [2, 2, 2]: (batch, max_ranges, 2).");
    reshape(c, kSeqlensQ, {3, 1});
    CHECK(fix_of(c) == "`let seqlens_q = seqlens_q.flatten_all()?;` gives [3].");
  }
}

TEST_CASE("fixes of strides") {
  SUBCASE("a permuted view: copy, or take the transpose back") {
    Case c = fixed_call();
    restride(c, kQ, {2048, 1, 256, 4});
    CHECK(fix_of(c) ==
          "Axis 1 of q is the contiguous one, stride 1, so q is a transposed or permuted view. "
          "`q.contiguous()?` copies it and keeps [2, 4, 8, 64]; `q.transpose(1, 3)?` takes the "
          "transpose back without a copy and gives [2, 64, 8, 4]. The head_dim is 64, so the shape "
          "looks right: copy.");
  }
  SUBCASE("a transposed tensor, told by the other tensors' head_dim") {
    Case c = varlen_call();
    reshape(c, kK, {9, 64, 2});
    restride(c, kK, {128, 1, 64});
    CHECK(fix_of(c) ==
          "Axis 1 of k is the contiguous one and has size 64, the head_dim: k is transposed. "
          "`k.transpose(1, 2)?` gives [9, 2, 64] with a contiguous last dim, without a copy.");
  }
  SUBCASE("an interleaved one") {
    Case c = varlen_call();
    restride(c, kV, {256, 128, 2});
    CHECK(fix_of(c) ==
          "Neighbours in the last dim of v lie 2 elements apart: `v.contiguous()?` copies them "
          "together.");
  }
  SUBCASE("a last dim of size 1, where contiguous() does nothing") {
    Case c = paged_call();
    reshape(c, kBlockTable, {2, 1});
    restride(c, kBlockTable, {1, 2});
    CHECK(fix_of(c) ==
          "The last dim has size 1, and candle looks at its stride all the same. `.contiguous()` "
          "gives such a tensor back unchanged: copy it with `block_table.force_contiguous()?`.");
  }
}

TEST_CASE("fixes of shapes and heads") {
  Case c = fixed_call();
  SUBCASE("one cache for a batch") {
    reshape_kv(c, {1, 6, 2, 64});
    CHECK(fix_of(c) ==
          "k has batch 1, q has 2: `k.expand((2, 6, 2, 64))?` shares it without a copy, v "
          "likewise.");
  }
  SUBCASE("another head_dim, found on another axis") {
    reshape_kv(c, {2, 6, 64, 2});
    CHECK(fix_of(c) ==
          "k's last dim is 2, q's head_dim is 64, and axis 2 of k has that size: `k.transpose(2, "
          "3)?.contiguous()?` gives [2, 6, 2, 64].");
  }
  SUBCASE("a transposed q: k and v agree, or its last dim is no head_dim") {
    reshape(c, kQ, {1, 32, 128, 17});
    reshape_kv(c, {1, 32, 17, 128});
    CHECK(fix_of(c) ==
          "q's last dim is 17, k's and v's is 128, and axis 2 of q has that size: `q.transpose(2, "
          "3)?.contiguous()?` gives [1, 32, 17, 128].");
    CHECK(check_contract(c).findings.front().where == "/tensors/q/shape");
    CHECK(check_contract(c).findings.size() == 1);
    reshape(c, kQ, {1, 128, 4, 17});
    reshape(c, kV, {1, 31, 17, 128});
    CHECK(fix_of(c) ==
          "q's last dim is 17, k's is 128, and axis 1 of q has that size: `q.transpose(1, "
          "3)?.contiguous()?` gives [1, 17, 4, 128].");
  }
  SUBCASE("a transposed q, or transposed k and v") {
    reshape(c, kQ, {2, 4, 128, 64});
    reshape_kv(c, {2, 6, 64, 128});
    CHECK(fix_of(c) ==
          "q's last dim is 64, k's and v's is 128, and axis 2 of q has that size: `q.transpose(2, "
          "3)?.contiguous()?` gives [2, 4, 64, 128]. If 64 is the head_dim: `k.transpose(2, "
          "3)?.contiguous()?` gives [2, 6, 128, 64], v likewise.");
  }
  SUBCASE("as many rows of q as k's head_dim is no transpose") {
    reshape(c, kQ, {2, 128, 8, 64});
    reshape_kv(c, {2, 128, 2, 128});
    CHECK(fix_of(c) ==
          "k's head_dim is 128, q's is 64: project both to one head_dim, or, if k's last dim holds "
          "2 heads of 64, split them off: [2, 128, 4, 64].");
  }
  SUBCASE("a transposed k in a batch as large as the head_dim") {
    reshape(c, kQ, {64, 4, 8, 64});
    reshape_kv(c, {64, 6, 64, 2});
    CHECK(fix_of(c) ==
          "k's last dim is 2, q's head_dim is 64, and axis 2 of k has that size: `k.transpose(2, "
          "3)?.contiguous()?` gives [64, 6, 2, 64].");
  }
  SUBCASE("another head_dim, or heads folded into it") {
    reshape_kv(c, {2, 6, 2, 128});
    CHECK(fix_of(c) ==
          "k's head_dim is 128, q's is 64: project both to one head_dim, or, if k's last dim holds "
          "2 heads of 64, split them off: [2, 6, 4, 64].");
  }
  SUBCASE("v one row behind k") {
    reshape(c, kV, {2, 5, 2, 64});
    CHECK(fix_of(c) ==
          "Axis 1 (rows): v has 5, 6 is wanted. Append to the caches of k and v together.");
  }
  SUBCASE("v with rows and heads exchanged") {
    reshape(c, kV, {2, 2, 6, 64});
    CHECK(fix_of(c) ==
          "Axes 1 and 2 of v look exchanged: `v.transpose(1, 2)?` gives [2, 6, 2, 64].");
  }
  SUBCASE("heads that do not divide") {
    reshape_kv(c, {2, 9, 6, 64});
    CHECK(fix_of(c) ==
          "k and v have 6 heads, q 8: use 4 or 8 k/v heads, the nearest that divide 8.");
  }
  SUBCASE("q and k exchanged") {
    reshape_kv(c, {2, 9, 16, 64});
    CHECK(fix_of(c) == "k and v have 16 heads, q 8: q and k look exchanged, or q lacks heads.");
  }
  SUBCASE("heads before rows, as the rows of q decide") {
    reshape(c, kQ, {2, 16, 8, 64});
    reshape_kv(c, {2, 2, 16, 64});
    CHECK(fix_of(c) ==
          "Axis 2 of k is 16, the rows of q, and axis 1 is 2, a divisor of q's 8 heads: heads and "
          "rows are exchanged. `k.transpose(1, 2)?` gives [2, 16, 2, 64], v likewise; no copy is "
          "needed.");
    CHECK(check_contract(c).findings.size() == 1);
  }
  SUBCASE("heads before rows, perhaps") {
    reshape(c, kQ, {2, 15, 8, 64});
    reshape_kv(c, {2, 2, 16, 64});
    CHECK(fix_of(c) ==
          "k and v have 16 heads, q 8: q and k look exchanged, or q lacks heads. If axis 1 of k "
          "(2) is the heads, axes 1 and 2 are exchanged: `k.transpose(1, 2)?`, v likewise.");
  }
  SUBCASE("a head_dim that is not a multiple of 8") {
    reshape(c, kQ, {2, 4, 8, 60});
    reshape_kv(c, {2, 6, 2, 60});
    CHECK(fix_of(c) ==
          "Pad the last dim of q, k and v from 60 to 64, `.pad_with_zeros(D::Minus1, 0, 4)?`, keep "
          "softmax_scale at 1/sqrt(60) = 0.129099, and cut the output back: `.narrow(D::Minus1, 0, "
          "60)?`.");
  }
  SUBCASE("a head_dim that v3 does not have and v2 has") {
    Case v3 = fixed_call(kV3);
    reshape(v3, kQ, {2, 4, 8, 80});
    reshape_kv(v3, {2, 6, 2, 80});
    CHECK(fix_of(v3) ==
          "Pad the last dim of q, k and v from 80 to 128, `.pad_with_zeros(D::Minus1, 0, 48)?`, "
          "keep softmax_scale at 1/sqrt(80) = 0.111803, and cut the output back: "
          "`.narrow(D::Minus1, 0, 80)?`. candle-flash-attn (v2) takes 80 as it is.");
  }
}

TEST_CASE("fixes of pages") {
  Case c = paged_call();
  SUBCASE("heads before rows") {
    reshape_kv(c, {5, 2, 32, 64});
    CHECK(fix_of(c) ==
          "Axis 2 of k is 32, axis 1 is 2: heads and page rows are exchanged. `k.transpose(1, 2)?` "
          "gives [5, 32, 2, 64], v likewise; no copy is needed.");
  }
  SUBCASE("another page size") {
    reshape_kv(c, {6, 32, 2, 64});
    c.args.page_block_size = 64;
    CHECK(fix_of(c) ==
          "k has pages of 32 rows (axis 1): pass page_block_size 32. If the block table counts "
          "pages of 64, reshape k and v to [3, 64, 2, 64] instead.");
  }
  SUBCASE("pages of 16") {
    reshape_kv(c, {5, 16, 2, 64});
    c.args.page_block_size = 16;
    CHECK(fix_of(c) ==
          "Use pages of 32: allocate k and v as [3, 32, 2, 64] and fill the block table anew. "
          "Pages of 16 cannot be merged in place unless each run of 2 that a sequence uses lies in "
          "order in the pool. Pages of 256 suit candle and engines that want a multiple of 16, 128 "
          "or 256.");
  }
  SUBCASE("pages of 48") {
    reshape_kv(c, {4, 48, 2, 64});
    c.args.page_block_size = 48;
    CHECK(fix_of(c) ==
          "Use pages of 32 or 64: allocate k and v as [3, 64, 2, 64] and fill the block table "
          "anew. Pages of 256 suit candle and engines that want a multiple of 16, 128 or 256.");
  }
}

TEST_CASE("fixes of lengths") {
  Case c = paged_call();
  SUBCASE("plain lengths, written out") {
    reshape(c, kSeqlensK, {2});
    write_out(c, kSeqlensK, {3, 4});
    CHECK(
        fix_of(c) ==
        "seqlens_q implies a batch of 2, seqlens_k a batch of 1. block_table has a row for each of "
        "2, so seqlens_k is the odd one. seqlens_k holds [3, 4], plain lengths: cumulative they "
        "are "
        "[0, 3, 7].");
  }
  SUBCASE("one entry too many") {
    reshape(c, kSeqlensK, {4});
    write_out(c, kSeqlensK, {0, 4, 9, 9});
    CHECK(
        fix_of(c) ==
        "seqlens_q implies a batch of 2, seqlens_k a batch of 3. block_table has a row for each of "
        "2, so seqlens_k is the odd one.");
  }
  SUBCASE("one boundary instead of two") {
    reshape(c, kSeqlensQ, {1});
    write_out(c, kSeqlensQ, {4});
    CHECK(fix_of(c) == "seqlens_q holds [4], plain lengths: cumulative they are [0, 4].");
  }
  SUBCASE("no values") {
    reshape(c, kSeqlensQ, {1});
    write_out(c, kSeqlensQ, {});
    CHECK(fix_of(c) == "q has 7 rows: if they are one sequence, pass [0, 7].");
  }
  SUBCASE("ranges for one sequence") {
    put(c, kMmPrefixRanges, Dtype::kI32, {1, 4, 2});
    CHECK(
        fix_of(c) ==
        "seqlens_q implies a batch of 2, axis 0 of mm_prefix_ranges is 1: pass [2, 4, 2], and (0, "
        "0) where a sequence has fewer ranges.");
  }
}

TEST_CASE("fixes of dtypes, devices, slopes and offsets") {
  SUBCASE("k and v in another half precision than q") {
    Case c = fixed_call();
    tensor(c, kK).dtype = tensor(c, kV).dtype = Dtype::kBF16;
    CHECK(fix_of(c) ==
          "k is bf16, q is f16: `let k = k.to_dtype(DType::F16)?;`, or convert q, since k and v "
          "are both bf16.");
  }
  SUBCASE("q alone on the CPU") {
    Case c = fixed_call();
    tensor(c, kQ).device = kCpu;
    CHECK(fix_of(c) ==
          "q alone is on cpu, k and v are on cuda:0: move q, `let q = q.to_device(k.device())?;`.");
    CHECK(check_contract(c).findings.size() == 1);
  }
  SUBCASE("k alone on the GPU") {
    Case c = fixed_call();
    tensor(c, kQ).device = tensor(c, kV).device = kCpu;
    CHECK(fix_of(c) ==
          "k is on cuda:0, q on cpu, and flash-attn runs on CUDA alone: move q and v there, `let q "
          "= q.to_device(k.device())?;`.");
  }
  SUBCASE("lengths left on the CPU") {
    Case c = varlen_call();
    tensor(c, kSeqlensK).device = kCpu;
    CHECK(fix_of(c) ==
          "seqlens_k is on cpu, q on cuda:0: `let seqlens_k = seqlens_k.to_device(q.device())?;`.");
  }
  SUBCASE("slopes one a k/v head") {
    Case c = fixed_alibi_call();
    reshape(c, kAlibiSlopes, {2});
    CHECK(fix_of(c) == "Pass 8 slopes, one a query head. These 2 are one a k/v head.");
  }
  SUBCASE("an offset beyond the storage, or in bytes") {
    Case c = fixed_call();
    c.storages[static_cast<size_t>(c.q().storage)].elements = 6096;
    tensor(c, kQ).offset = 8000;
    CHECK(fix_of(c) ==
          "q starts at element 8000 of a storage of 6096. Its view of 4096 elements fits at "
          "offsets 0 to 2000.");
    c.storages[static_cast<size_t>(c.q().storage)].elements = 16384;
    tensor(c, kQ).offset = 20000;
    CHECK(fix_of(c) ==
          "q starts at element 20000 of a storage of 16384. Offsets are in elements: if 20000 is "
          "in bytes, the offset is 10000.");
  }
}

}  // namespace flashcheck
