#include "src/load/args_reader.h"

#include <fmt/format.h>

#include <optional>
#include <string_view>

#include "src/load/case_file_rules.h"
#include "src/load/case_keys.h"
#include "src/load/function_arguments.h"
#include "src/load/json_reader.h"

namespace flashcheck {
namespace {

void read_arg(const JsonValue& value, ArgName name, Complaints& complaints, CallArgs& args) {
  const auto usize = [&] { return read_usize(value, complaints); };
  switch (name) {
    case ArgName::kSoftmaxScale:
      args.softmax_scale = read_f32(value, complaints).value_or(1);
      break;
    case ArgName::kCausal:
      args.causal = read_bool(value, complaints).value_or(false);
      break;
    case ArgName::kWindowSizeLeft:
      args.window_size_left = usize();
      break;
    case ArgName::kWindowSizeRight:
      args.window_size_right = usize();
      break;
    case ArgName::kMaxSeqlenQ:
      args.max_seqlen_q = usize().value_or(0);
      break;
    case ArgName::kMaxSeqlenK:
      args.max_seqlen_k = usize().value_or(0);
      break;
    case ArgName::kPageBlockSize:
      args.page_block_size = usize().value_or(0);
      break;
    case ArgName::kSoftcap:
      args.softcap = read_f32(value, complaints);
      break;
    case ArgName::kUseGqaPacking:
      args.use_gqa_packing = read_bool(value, complaints).value_or(false);
      break;
  }
}

}  // namespace

void read_args(const JsonValue& object, const WrapperFunction* function, Complaints& complaints,
               CallArgs& args) {
  if (!expect_object(object, complaints)) return;
  expect_keys(object, kArgKeys, complaints);
  for (size_t i = 0; i < kArgKeys.size(); ++i) {
    const auto name = static_cast<ArgName>(i);
    const JsonValue* member = object.find(kArgKeys[i]);
    const Presence presence = function ? presence_of(*function, name) : Presence::kOptional;
    if (member && presence == Presence::kAbsent) {
      complaints.add(
          complaint::kNotTaken, *member,
          fmt::format("an argument that {} takes ({})", function->name, args_of(*function)),
          in_quotes(kArgKeys[i]));
    } else if (!member || member->is_null()) {
      if (presence != Presence::kRequired) continue;
      complaints.add_member(complaint::kMissingArgument, object, kArgKeys[i],
                            fmt::format("an argument, which {} requires", function->name),
                            member ? "null" : "nothing");
    } else {
      read_arg(*member, name, complaints, args);
    }
  }
}

}  // namespace flashcheck
