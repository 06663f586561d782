#include "src/spec/wrapper_function.h"

#include <array>
#include <vector>

namespace flashcheck {
namespace {

constexpr Presence kNo = Presence::kAbsent;
constexpr Presence kMaybe = Presence::kOptional;
constexpr Presence kYes = Presence::kRequired;
constexpr Wrapper kV2 = Wrapper::kCandleFlashAttn;
constexpr Wrapper kV3 = Wrapper::kCandleFlashAttnV3;

//                   wrapper, name, varlen, paged, windowed, alibi, softcap, gqa packing
constexpr std::array<WrapperFunction, 19> kCandleFunctions{{
    {kV2, "flash_attn", false, false, false, kNo, kNo, false},
    {kV2, "flash_attn_windowed", false, false, true, kNo, kNo, false},
    {kV2, "flash_attn_alibi", false, false, false, kYes, kNo, false},
    {kV2, "flash_attn_alibi_windowed", false, false, true, kYes, kNo, false},
    {kV2, "flash_attn_alibi_windowed_softcap", false, false, true, kMaybe, kYes, false},
    {kV2, "flash_attn_varlen", true, false, false, kNo, kNo, false},
    {kV2, "flash_attn_varlen_windowed", true, false, true, kNo, kNo, false},
    {kV2, "flash_attn_varlen_paged_windowed", true, true, true, kNo, kMaybe, false},
    {kV2, "flash_attn_varlen_alibi", true, false, false, kYes, kNo, false},
    {kV2, "flash_attn_varlen_alibi_windowed", true, false, true, kYes, kNo, false},
    {kV2, "flash_attn_varlen_alibi_windowed_softcap", true, false, true, kMaybe, kYes, false},
    {kV3, "flash_attn", false, false, false, kNo, kNo, true},
    {kV3, "flash_attn_windowed", false, false, true, kNo, kNo, true},
    {kV3, "flash_attn_alibi", false, false, false, kYes, kNo, true},
    {kV3, "flash_attn_alibi_windowed", false, false, true, kYes, kNo, true},
    {kV3, "flash_attn_varlen", true, false, false, kNo, kNo, true},
    {kV3, "flash_attn_varlen_windowed", true, false, true, kNo, kNo, true},
    {kV3, "flash_attn_varlen_alibi", true, false, false, kYes, kNo, true},
    {kV3, "flash_attn_varlen_alibi_windowed", true, false, true, kYes, kNo, true},
}};

std::vector<WrapperFunction> all_functions() {
  std::vector<WrapperFunction> functions(kCandleFunctions.begin(), kCandleFunctions.end());
  for (WrapperFunction function : kCandleFunctions) {
    if (function.wrapper != kV2) continue;
    function.wrapper = Wrapper::kNone;
    functions.push_back(function);
  }
  return functions;
}

}  // namespace

std::string_view name_of(Wrapper wrapper) {
  switch (wrapper) {
    case Wrapper::kCandleFlashAttn:
      return "candle-flash-attn";
    case Wrapper::kCandleFlashAttnV3:
      return "candle-flash-attn-v3";
    case Wrapper::kNone:
      return "none";
  }
  return "";
}

std::span<const WrapperFunction> wrapper_functions() {
  static const std::vector<WrapperFunction> functions = all_functions();
  return functions;
}

const WrapperFunction* find_function(Wrapper wrapper, std::string_view name) {
  for (const WrapperFunction& function : wrapper_functions()) {
    if (function.wrapper == wrapper && function.name == name) return &function;
  }
  return nullptr;
}

}  // namespace flashcheck
