#include <fmt/format.h>

#include "src/contract/rules.h"
#include "src/contract/text.h"

namespace flashcheck {
namespace {

bool all_on(const Call& call, Device::Kind kind) {
  return call.c.q().device.kind == kind && call.c.k().device == call.c.q().device &&
         call.c.v().device == call.c.q().device;
}

Facts device_mismatch(const Call& call, TensorName subject) {
  const Case& c = call.c;
  const Device& device = c.at(subject).device;
  const Device& query = c.q().device;
  Facts facts{.where = pointer_to(subject, "device"),
              .args = {{"op", std::string(call.op.name)},
                       {"lhs", rust_name_of(query)},
                       {"rhs", rust_name_of(device)}}};
  if (c.k().device == c.v().device) {
    facts.fix = fmt::format(
        "q alone is on {}, k and v are on {}: move q, `let q = q.to_device(k.device())?;`.",
        name_of(query), name_of(device));
  } else if (device.is_cuda() && !query.is_cuda()) {
    facts.fix = fmt::format(
        "{0} is on {1}, q on {2}, and flash-attn runs on CUDA alone: move q and {3} there, `let q "
        "= q.to_device({0}.device())?;`.",
        name_of(subject), name_of(device), name_of(query), subject == TensorName::kK ? "v" : "k");
  } else {
    facts.fix = fmt::format("{0} is on {1}, q on {2}: `let {0} = {0}.to_device(q.device())?;`.",
                            name_of(subject), name_of(device), name_of(query));
  }
  return facts;
}

Facts no_support(std::string_view op) {
  return {.where = pointer_to(TensorName::kQ, "device"), .args = {{"op", std::string(op)}}};
}

Facts not_a_cuda_tensor(const Call& call, TensorName subject) {
  const std::string_view name = name_of(subject);
  const Device& query = call.c.q().device;
  const std::string where_to =
      query.is_cuda() ? fmt::format("q on {}", name_of(query)) : "q has to move to the GPU too";
  return {.where = pointer_to(subject, "device"),
          .args = {{"tensor", std::string(name)}},
          .fix = fmt::format("{0} is on {1}, {2}: `let {0} = {0}.to_device(q.device())?;`.", name,
                             name_of(call.c.at(subject).device), where_to)};
}

}  // namespace

constinit const ContractRule kDeviceMismatch{
    .rule = {.code = "FC-E001",
             .name = "device-mismatch",
             .message = "device mismatch in {op}, lhs: {lhs}, rhs: {rhs}",
             .why = "q, k and v go into one kernel launch, so candle wants all three on one "
                    "device before it looks at anything else. `lhs` is q's device, `rhs` is that "
                    "of k or v. Two Metal devices made separately count as different, whatever "
                    "their ids.",
             .fix = "Move the tensor that is elsewhere: `let k = k.to_device(q.device())?;`.",
             .source = "candle-core/src/storage.rs:47-65"},
    .fails =
        [](const Call& call, TensorName subject) {
          const Device& device = call.c.at(subject).device;
          if (device == call.c.q().device) return false;
          // Where k is on the same device as v, the check on k has said it.
          return subject == TensorName::kK || device != call.c.k().device;
        },
    .facts = device_mismatch};

constinit const ContractRule kNoCpuSupport{
    .rule = {.code = "FC-E002",
             .name = "no-cpu-support",
             .message = "no cpu support for {op}",
             .why = "The wrapper has a CUDA implementation only. q, k and v are all on the CPU, "
                    "often because `Device::cuda_if_available` found no GPU or because the "
                    "weights were loaded on `Device::Cpu`.",
             .fix = "Move q, k and v to a GPU: `let device = Device::new_cuda(0)?;`, then "
                    "`.to_device(&device)?` on each. On a machine without one, call candle-nn's "
                    "CPU attention, or matmul, softmax, matmul.",
             .source = "candle-flash-attn/src/lib.rs:237"},
    .fails = [](const Call& call, TensorName) { return all_on(call, Device::Kind::kCpu); },
    .facts = [](const Call& call, TensorName) { return no_support(call.op.family); }};

constinit const ContractRule kNoMetalSupport{
    .rule = {.code = "FC-E003",
             .name = "no-metal-support",
             .message = "Metal error no metal implementation for {op}",
             .why = "The wrapper has a CUDA implementation only; candle-core answers for every "
                    "custom op that has none for Metal.",
             .fix = "On a Mac, call candle-nn's scaled-dot-product attention for Metal instead, "
                    "or matmul, softmax, matmul. Flash attention needs an NVIDIA GPU.",
             .source = "candle-core/src/custom_op.rs:137"},
    .fails = [](const Call& call, TensorName) { return all_on(call, Device::Kind::kMetal); },
    .facts = [](const Call& call, TensorName) { return no_support(call.op.name); }};

constinit const ContractRule kNotACudaTensor{
    .rule = {.code = "FC-E004",
             .name = "not-a-cuda-tensor",
             .message = "{tensor} must be a cuda tensor",
             .why = "The kernel reads lengths, block table, ranges and slopes from GPU memory. "
                    "They are usually built from a Vec, and then stay where the device argument of "
                    "`Tensor::new` put them.",
             .fix = "Create it on q's device, `Tensor::new(values, q.device())?`, or move it: "
                    "`.to_device(q.device())?`.",
             .source = "candle-flash-attn/src/lib.rs:110-113, 484, 494, 503-506, 626-629"},
    .fails = [](const Call& call,
                TensorName subject) { return !call.c.at(subject).device.is_cuda(); },
    .facts = not_a_cuda_tensor};

}  // namespace flashcheck
