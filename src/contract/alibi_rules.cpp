#include <fmt/format.h>

#include "src/contract/rules.h"
#include "src/contract/text.h"

namespace flashcheck {
namespace {

Facts slopes_length(const Call& call, TensorName subject) {
  const TensorSpec& slopes = call.c.at(subject);
  Facts facts{.where = pointer_to(subject, "shape"),
              .args = {{"shape", rust_list(slopes.shape)},
                       {"num_heads", std::to_string(call.num_heads())}}};
  facts.fix = fmt::format("Pass {} slopes, one a query head.", call.num_heads());
  if (call.has_expected_rank(TensorName::kK) && slopes.shape[0] == call.num_heads_k()) {
    facts.fix += fmt::format(" These {} are one a k/v head.", slopes.shape[0]);
  } else if (slopes.shape[0] == call.head_dim()) {
    facts.fix += fmt::format(" {} is the head_dim: axes of q may be swapped.", slopes.shape[0]);
  }
  return facts;
}

}  // namespace

constinit const ContractRule kAlibiSlopesNotF32{
    .rule = {.code = "FC-E701",
             .name = "alibi-slopes-not-f32",
             .message = "DType mismatch alibi_slopes {dtype}, expected F32",
             .why = "The kernel adds the slopes to f32 scores and reads them as f32, whatever the "
                    "dtype of q. Slopes converted together with the model's weights get here.",
             .fix = "`let alibi_slopes = alibi_slopes.to_dtype(DType::F32)?;`.",
             .source = "candle-flash-attn/src/lib.rs:92-98, 652-658"},
    .fails = [](const Call& call,
                TensorName subject) { return call.c.at(subject).dtype != Dtype::kF32; },
    .facts =
        [](const Call& call, TensorName subject) {
          return Facts{.where = pointer_to(subject, "dtype"),
                       .args = {{"dtype", std::string(rust_name_of(call.c.at(subject).dtype))}}};
        }};

constinit const ContractRule kAlibiSlopesLength{
    .rule = {.code = "FC-E702",
             .name = "alibi-slopes-not-one-a-head",
             .message = "shape mismatch alibi_slopes {shape}, expected {num_heads}",
             .why = "Every query head has its own slope, and all sequences share them. k/v heads "
                    "do not count.",
             .fix = "Pass as many slopes as q has heads.",
             .source = "candle-flash-attn/src/lib.rs:102-108, 662-668"},
    .fails =
        [](const Call& call, TensorName subject) {
          const TensorSpec& slopes = call.c.at(subject);
          return slopes.rank() == 1 && call.has_expected_rank(TensorName::kQ) &&
                 slopes.shape[0] != call.num_heads();
        },
    .facts = slopes_length};

}  // namespace flashcheck
