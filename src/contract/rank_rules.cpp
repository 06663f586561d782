#include <fmt/format.h>

#include <algorithm>

#include "src/contract/rules.h"
#include "src/contract/text.h"
#include "src/spec/checked.h"

namespace flashcheck {
namespace {

using Shape = std::vector<int64_t>;

std::string_view layout_of(const Call& call, TensorName name) {
  if (call.expected_rank(name) == 3) return "(rows, heads, head_dim)";
  return call.op.paged ? "(pages, page_block_size, heads, head_dim)"
                       : "(batch, rows, heads, head_dim)";
}

/// The head_dim, if q, or another tensor of the expected rank, tells it.
std::optional<int64_t> known_head_dim(const Call& call) {
  for (const TensorName name : {TensorName::kQ, TensorName::kK, TensorName::kV}) {
    if (call.has_expected_rank(name)) return call.c.at(name).shape.back();
  }
  return std::nullopt;
}

/// The batch of a fixed-length call, likewise.
std::optional<int64_t> known_batch(const Call& call) {
  for (const TensorName name : {TensorName::kQ, TensorName::kK, TensorName::kV}) {
    if (call.has_expected_rank(name)) return call.c.at(name).shape[0];
  }
  return std::nullopt;
}

/// The first tensor with a batch, of a fixed-length call, that has this many rows an entry.
std::optional<TensorName> tensor_with_rows(const Call& call, int64_t rows) {
  for (const TensorName name : {TensorName::kQ, TensorName::kK, TensorName::kV}) {
    if (call.has_expected_rank(name) && call.c.at(name).shape[1] == rows) return name;
  }
  return std::nullopt;
}

/// What gives (rows, heads, head_dim) the batch of the others; "" where the rows do not tell.
std::string into_batch(const Call& call, TensorName subject, int64_t batch) {
  const std::string_view name = name_of(subject);
  const Shape& shape = call.c.at(subject).shape;
  std::string reshape;
  if (shape[0] % batch == 0) {
    reshape = fmt::format("reshape {} to {}", name,
                          rust_list({batch, shape[0] / batch, shape[1], shape[2]}));
  }
  const std::optional<TensorName> other = tensor_with_rows(call, shape[0]);
  if (!other) return reshape.empty() ? "" : reshape + ", the batch of the others";
  std::string fix = fmt::format(
      "{0}'s {1} rows are those of one batch entry and {2} has {3}: pass {0} with its batch, {4}",
      name, shape[0], name_of(*other), batch, rust_list({batch, shape[0], shape[1], shape[2]}));
  if (!reshape.empty()) {
    fix += fmt::format("; or {}, if its rows are the {} sequences one after the other", reshape,
                       batch);
  }
  return fix;
}

/// A page pool that keeps a row's head_dim in groups of x: (page, head, head_dim/x, row, x).
bool is_packed_pool(const Call& call, const Shape& shape) {
  return call.op.paged && call.c.q().rank() == 3 && shape.size() == 5 && shape[2] > 1 &&
         shape[4] > 1 && checked_mul(shape[2], shape[4]) == call.head_dim();
}

std::string unpack(std::string_view name, const Shape& shape) {
  return fmt::format(
      "unpack {0} from (page, head, head_dim/{1}, row, {1}): `{0}.permute((0, 3, 1, 2, "
      "4))?.reshape(({2}, {3}, {4}, {5}))?`",
      name, shape[4], shape[0], shape[3], shape[1], shape[2] * shape[4]);
}

std::string too_many_dims(const Call& call, TensorName subject) {
  const std::string_view name = name_of(subject);
  const Shape& shape = call.c.at(subject).shape;
  const bool is_kv = subject != TensorName::kQ;
  if (call.expected_rank(subject) == 3) {
    const std::optional<int64_t> rows = checked_mul(shape[0], shape[1]);
    if (!rows) return "";
    std::string fix = fmt::format("flatten {} to {}: `{}.flatten(0, 1)?`", rust_list(shape),
                                  rust_list({*rows, shape[2], shape[3]}), name);
    if (is_kv && call.op.wrapper == Wrapper::kCandleFlashAttn) {
      fix +=
          ", or, if it is a paged cache, call flash_attn_varlen_paged_windowed with its block "
          "table";
    }
    return fix;
  }
  for (size_t axis = 0; axis < shape.size(); ++axis) {
    if (shape[axis] != 1) continue;
    Shape squeezed = shape;
    squeezed.erase(squeezed.begin() + static_cast<std::ptrdiff_t>(axis));
    const std::optional<int64_t> head_dim = known_head_dim(call);
    if (head_dim && squeezed.back() != *head_dim) continue;
    return fmt::format("drop axis {} of {}: `{}.squeeze({})?` gives {}", axis, name, name, axis,
                       rust_list(squeezed));
  }
  return "";
}

/// (rows, heads, head_dim) for a paged cache: cut into pages of a size that the wrapper takes.
std::string into_pages(std::string_view name, const Shape& shape, int64_t page_block_size) {
  constexpr int64_t kPageMultiple = 32;
  if (page_block_size > INT32_MAX) return "";
  const int64_t page_rows = std::max<int64_t>(
      kPageMultiple, (page_block_size + kPageMultiple - 1) / kPageMultiple * kPageMultiple);
  const int64_t pages = shape[0] / page_rows + (shape[0] % page_rows != 0);
  const std::optional<int64_t> rows = checked_mul(pages, page_rows);
  if (!rows) return "";
  const std::string paged = rust_list({pages, page_rows, shape[1], shape[2]});
  const std::string argument =
      page_rows == page_block_size
          ? ""
          : fmt::format(" and pass page_block_size {}, a multiple of {}", page_rows, kPageMultiple);
  if (*rows == shape[0]) {
    return fmt::format("reshape {} to {}{}: page p holds rows {}*p and following", name, paged,
                       argument, page_rows);
  }
  return fmt::format(
      "pad {0} from {1} to {2} rows, `{0}.pad_with_zeros(0, 0, {3})?`, and reshape it to {4}{5}",
      name, shape[0], *rows, *rows - shape[0], paged, argument);
}

std::string too_few_dims(const Call& call, TensorName subject) {
  const std::string_view name = name_of(subject);
  const Shape& shape = call.c.at(subject).shape;
  const int64_t last = shape.back();
  const std::optional<int64_t> head_dim = known_head_dim(call);
  if (head_dim && *head_dim > 0 && last > *head_dim && last % *head_dim == 0 &&
      !(call.op.paged && subject != TensorName::kQ)) {
    Shape split = shape;
    split.back() = last / *head_dim;
    split.push_back(*head_dim);
    return fmt::format("split its last dim into {} heads of {}: reshape {} to {}", last / *head_dim,
                       *head_dim, name, rust_list(split));
  }
  if (call.expected_rank(subject) == 3) {
    return fmt::format("reshape {} to {} if it is one head", name, rust_list({shape[0], 1, last}));
  }
  if (call.op.paged) return into_pages(name, shape, call.c.args.page_block_size);
  const int64_t batch = known_batch(call).value_or(1);
  if (batch > 1 && shape[0] == batch) {
    return fmt::format("split its axis 1, {}, into rows and heads", shape[1]);
  }
  if (batch > 1) {
    if (std::string fix = into_batch(call, subject, batch); !fix.empty()) return fix;
  }
  return fmt::format("add the batch dim: `{}.unsqueeze(0)?` gives {}", name,
                     rust_list({1, shape[0], shape[1], last}));
}

/// What gives the tensor its expected rank; "" where its shape does not tell.
std::string rank_step(const Call& call, TensorName subject) {
  const TensorSpec& tensor = call.c.at(subject);
  const int excess = tensor.rank() - call.expected_rank(subject);
  if (subject != TensorName::kQ) {
    if (is_packed_pool(call, tensor.shape)) return unpack(name_of(subject), tensor.shape);
    const TensorName sibling = subject == TensorName::kK ? TensorName::kV : TensorName::kK;
    const TensorSpec& other = call.c.at(sibling);
    if (call.has_expected_rank(sibling) && other.num_elements() == tensor.num_elements()) {
      return fmt::format("reshape {} to {}, the shape of {}", name_of(subject),
                         rust_list(other.shape), name_of(sibling));
    }
  }
  if (excess == 1) return too_many_dims(call, subject);
  if (excess == -1) return too_few_dims(call, subject);
  return "";
}

/// "k is [128, 2, 64], (…) is wanted: reshape k to [4, 32, 2, 64]".
std::string rank_fix(const Call& call, TensorName subject) {
  const std::string fix =
      fmt::format("{} is {}, {} is wanted", name_of(subject), rust_list(call.c.at(subject).shape),
                  layout_of(call, subject));
  const std::string step = rank_step(call, subject);
  return step.empty() ? fix : fix + ": " + step;
}

/// One sentence a tensor of the wrong rank; v's is left out where it would be k's.
Facts rank_facts(const Call& call, std::span<const TensorName> subjects,
                 std::vector<FindingArg> args) {
  Facts facts{.args = std::move(args)};
  for (const TensorName subject : subjects) {
    if (call.has_expected_rank(subject)) continue;
    if (facts.where.empty()) facts.where = pointer_to(subject, "shape");
    if (subject == TensorName::kV && call.c.v().shape == call.c.k().shape) {
      facts.fix.back() = ';';
      facts.fix += " v likewise.";
    } else {
      if (!facts.fix.empty()) facts.fix += ' ';
      facts.fix += rank_fix(call, subject) + ".";
    }
  }
  return facts;
}

constexpr TensorName kQkv[] = {TensorName::kQ, TensorName::kK, TensorName::kV};

Facts qkv_rank(const Call& call, TensorName) {
  // The paged op judges k and v in a check of their own.
  const std::span<const TensorName> subjects(kQkv, call.op.paged ? 1 : 3);
  return rank_facts(call, subjects,
                    {{"op", std::string(call.op.name)},
                     {"q_rank", std::to_string(call.c.q().rank())},
                     {"k_rank", std::to_string(call.c.k().rank())},
                     {"v_rank", std::to_string(call.c.v().rank())}});
}

bool qkv_rank_is_wrong(const Call& call, TensorName) {
  if (!call.has_expected_rank(TensorName::kQ)) return true;
  if (call.op.paged) return false;
  return !call.has_expected_rank(TensorName::kK) || !call.has_expected_rank(TensorName::kV);
}

std::string small_tensor_fix(const Call& call, TensorName subject) {
  const TensorSpec& tensor = call.c.at(subject);
  const std::string_view name = name_of(subject);
  const int64_t elements = tensor.num_elements().value_or(0);
  const int64_t batch = call.op.varlen ? call.batch_size().value_or(0) : 0;
  if (subject == TensorName::kBlockTable) {
    if (batch > 0 && elements % batch == 0) {
      return fmt::format("Reshape block_table to {}: one row a sequence.",
                         rust_list({batch, elements / batch}));
    }
    return "Pass block_table as [batch, pages a sequence]: one row a sequence.";
  }
  if (subject == TensorName::kMmPrefixRanges) {
    if (batch > 0 && elements % 2 == 0 && elements / 2 % batch == 0) {
      return fmt::format("Reshape mm_prefix_ranges to {}: (batch, max_ranges, 2).",
                         rust_list({batch, elements / 2 / batch, 2}));
    }
    return "Pass mm_prefix_ranges as [batch, max_ranges, 2]: a start and an end each.";
  }
  if (subject == TensorName::kAlibiSlopes && call.has_expected_rank(TensorName::kQ) &&
      elements != call.num_heads()) {
    return fmt::format(
        "Pass {} slopes as [{}]: one a query head, the same for all sequences; candle takes none "
        "per sequence.",
        call.num_heads(), call.num_heads());
  }
  return fmt::format("`let {0} = {0}.flatten_all()?;` gives [{1}].", name, elements);
}

Facts small_tensor_rank(const Call& call, TensorName subject) {
  const TensorSpec& tensor = call.c.at(subject);
  return {.where = pointer_to(subject, "shape"),
          .args = {{"expected", std::to_string(call.expected_rank(subject))},
                   {"got", std::to_string(tensor.rank())},
                   {"shape", rust_list(tensor.shape)}},
          .fix = small_tensor_fix(call, subject)};
}

}  // namespace

constinit const ContractRule kFixedRankNot4{
    .rule = {.code = "FC-E201",
             .name = "fixed-length-rank-not-4",
             .message = "{op} expects input tensors of rank 4 (q: {q_rank}, k: {k_rank}, v: "
                        "{v_rank}",
             .why = "The functions for sequences of one length take q, k and v as (batch, rows, "
                    "heads, head_dim). The message really ends without a closing parenthesis.",
             .fix = "For one sequence add the batch dim, `.unsqueeze(0)?`; for sequences of "
                    "different lengths flatten them and call a varlen function.",
             .source = "candle-flash-attn/src/lib.rs:55-59"},
    .fails = qkv_rank_is_wrong,
    .facts = qkv_rank};

constinit const ContractRule kVarlenRankNot3{
    .rule = {.code = "FC-E202",
             .name = "varlen-rank-not-3",
             .message = "{op} expects input tensors of rank 3 (q: {q_rank}, k: {k_rank}, v: "
                        "{v_rank}",
             .why = "The varlen functions take the sequences one after the other, as (rows, heads, "
                    "head_dim); seqlens_q and seqlens_k say where each begins. In the paged "
                    "function this check is about q alone. The message really ends without a "
                    "closing parenthesis.",
             .fix = "Merge batch and rows: `.flatten(0, 1)?`.",
             .source = "candle-flash-attn/src/lib.rs:538-542"},
    .fails = qkv_rank_is_wrong,
    .facts = qkv_rank};

constinit const ContractRule kPagedKvRankNot4{
    .rule = {.code = "FC-E203",
             .name = "paged-kv-rank-not-4",
             .message = "flash-attn-varlen paged expects k/v tensors of rank 4 (k: {k_rank}, v: "
                        "{v_rank})",
             .why = "With a block table, k and v are the whole page pool: (pages, page_block_size, "
                    "heads, head_dim). A contiguous cache (rows, heads, head_dim) left over from "
                    "the unpaged path gets here.",
             .fix = "Reshape k and v to (pages, page_block_size, heads, head_dim).",
             .source = "candle-flash-attn/src/lib.rs:543-547"},
    .fails =
        [](const Call& call, TensorName) {
          return !call.has_expected_rank(TensorName::kK) || !call.has_expected_rank(TensorName::kV);
        },
    .facts =
        [](const Call& call, TensorName) {
          return rank_facts(call, std::span(kQkv).subspan(1),
                            {{"k_rank", std::to_string(call.c.k().rank())},
                             {"v_rank", std::to_string(call.c.v().rank())}});
        }};

constinit const ContractRule kSmallTensorRank{
    .rule = {.code = "FC-E204",
             .name = "small-tensor-rank",
             .message = "unexpected rank, expected: {expected}, got: {got} ({shape})",
             .why = "candle-core says this of a tensor that it unpacks, without naming it. "
                    "Expected 1 is seqlens_q, seqlens_k or alibi_slopes, 2 is block_table, 3 is "
                    "mm_prefix_ranges.",
             .fix = "Reshape: seqlens to [batch + 1], block_table to [batch, pages a sequence], "
                    "mm_prefix_ranges to [batch, max_ranges, 2], alibi_slopes to [heads].",
             .source = "candle-core/src/shape.rs:449"},
    .fails = [](const Call& call, TensorName subject) { return !call.has_expected_rank(subject); },
    .facts = small_tensor_rank};

}  // namespace flashcheck
