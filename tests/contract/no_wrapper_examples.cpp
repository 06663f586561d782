#include "tests/contract/calls.h"
#include "tests/contract/examples.h"

namespace flashcheck {
namespace {

constexpr auto kQ = TensorName::kQ;
constexpr auto kK = TensorName::kK;
constexpr auto kV = TensorName::kV;
constexpr auto kSeqlensQ = TensorName::kSeqlensQ;
constexpr auto kSeqlensK = TensorName::kSeqlensK;
constexpr auto kBlockTable = TensorName::kBlockTable;
constexpr auto kAlibiSlopes = TensorName::kAlibiSlopes;

}  // namespace

std::vector<Example> no_wrapper_examples() {
  return {
      {"FC-E901",
       with(fixed_call(Wrapper::kNone),
            [](Case& c) {
              reshape(c, kK, {6, 2, 64});
            }),
       "no wrapper: k has rank 3, the kernel reads rank 4", "docs/case-format.md"},
      {"FC-E901",
       with(varlen_call(Wrapper::kNone),
            [](Case& c) {
              reshape(c, kSeqlensK, {3, 1});
            }),
       "no wrapper: seqlens_k has rank 2, the kernel reads rank 1", "docs/case-format.md"},
      {"FC-E901", with(paged_call(Wrapper::kNone), [](Case& c) { reshape(c, kBlockTable, {6}); }),
       "no wrapper: block_table has rank 1, the kernel reads rank 2", "docs/case-format.md"},
      {"FC-E902",
       with(fixed_call(Wrapper::kNone), [](Case& c) { tensor(c, kQ).dtype = Dtype::kF64; }),
       "no wrapper: q is f64, the kernel reads f16, bf16 or f32", "docs/case-format.md"},
      {"FC-E902",
       with(fixed_call(Wrapper::kNone), [](Case& c) { tensor(c, kV).dtype = Dtype::kBF16; }),
       "no wrapper: v is bf16, the kernel reads f16", "docs/case-format.md"},
      {"FC-E902",
       with(varlen_call(Wrapper::kNone), [](Case& c) { tensor(c, kSeqlensQ).dtype = Dtype::kI64; }),
       "no wrapper: seqlens_q is i64, the kernel reads u32 or i32", "docs/case-format.md"},
      {"FC-E902",
       with(fixed_alibi_call(Wrapper::kNone),
            [](Case& c) { tensor(c, kAlibiSlopes).dtype = Dtype::kF16; }),
       "no wrapper: alibi_slopes is f16, the kernel reads f32", "docs/case-format.md"},
      {"FC-E903",
       with(fixed_call(Wrapper::kNone),
            [](Case& c) {
              restride(c, kQ, {2048, 1, 256, 4});
            }),
       "no wrapper: the last dim of q has stride 4, the kernel reads neighbours",
       "docs/case-format.md"},
      {"FC-E903", with(varlen_call(Wrapper::kNone), [](Case& c) { restride(c, kSeqlensK, {2}); }),
       "no wrapper: the last dim of seqlens_k has stride 2, the kernel reads neighbours",
       "docs/case-format.md"},
      {"FC-E904",
       with(fixed_call(Wrapper::kNone),
            [](Case& c) {
              reshape(c, kK, {2, 6, 2, 128});
              reshape(c, kV, {2, 6, 2, 128});
            }),
       "no wrapper: k is [2, 6, 2, 128], the other tensors make it [2, 6, 2, 64]",
       "docs/case-format.md"},
      {"FC-E904",
       with(fixed_call(Wrapper::kNone),
            [](Case& c) {
              reshape(c, kV, {2, 5, 2, 64});
            }),
       "no wrapper: v is [2, 5, 2, 64], the other tensors make it [2, 6, 2, 64]",
       "docs/case-format.md"},
      {"FC-E904", with(varlen_call(Wrapper::kNone), [](Case& c) { reshape(c, kSeqlensQ, {1}); }),
       "no wrapper: seqlens_q is [1], the other tensors make it [2]", "docs/case-format.md"},
      {"FC-E904", with(varlen_call(Wrapper::kNone), [](Case& c) { reshape(c, kSeqlensK, {2}); }),
       "no wrapper: seqlens_k is [2], the other tensors make it [3]", "docs/case-format.md"},
      {"FC-E904",
       with(paged_call(Wrapper::kNone),
            [](Case& c) {
              reshape(c, kBlockTable, {1, 3});
            }),
       "no wrapper: block_table is [1, 3], the other tensors make it [2, 3]",
       "docs/case-format.md"},
      {"FC-E904",
       with(fixed_alibi_call(Wrapper::kNone), [](Case& c) { reshape(c, kAlibiSlopes, {2}); }),
       "no wrapper: alibi_slopes is [2], the other tensors make it [8]", "docs/case-format.md"},
      {"FC-E905",
       with(fixed_call(Wrapper::kNone),
            [](Case& c) {
              reshape(c, kQ, {2, 4, 8, 60});
              reshape(c, kK, {2, 6, 2, 60});
              reshape(c, kV, {2, 6, 2, 60});
            }),
       "no wrapper: head_dim is 60, the kernel takes multiples of 8 from 8 to 512",
       "docs/case-format.md"},
      {"FC-E906",
       with(fixed_call(Wrapper::kNone),
            [](Case& c) {
              reshape(c, kK, {2, 6, 3, 64});
              reshape(c, kV, {2, 6, 3, 64});
            }),
       "no wrapper: 3 k/v heads do not divide 8 query heads", "docs/case-format.md"},
      {"FC-E906",
       with(fixed_call(Wrapper::kNone),
            [](Case& c) {
              reshape(c, kK, {2, 6, 0, 64});
              reshape(c, kV, {2, 6, 0, 64});
            }),
       "no wrapper: 0 k/v heads do not divide 8 query heads", "docs/case-format.md"},
      {"FC-E907", with(paged_call(Wrapper::kNone), [](Case& c) { c.args.page_block_size = 64; }),
       "no wrapper: page_block_size is 64, the pages of k have 32 rows", "docs/case-format.md"},
  };
}

}  // namespace flashcheck
