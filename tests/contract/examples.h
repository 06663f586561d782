#pragma once

#include <string_view>
#include <vector>

#include "src/spec/case.h"

namespace flashcheck {

/// A call with one fault, what the wrapper says to it, and the line that says it.
struct Example {
  std::string_view code;
  Case c;
  std::string_view message;
  std::string_view source;
  bool panics = false;
};

// Every check of every op, in the op's order.
std::vector<Example> fixed_examples();       // candle-flash-attn
std::vector<Example> varlen_examples();      // candle-flash-attn, without a block table
std::vector<Example> paged_examples();       // candle-flash-attn, with one
std::vector<Example> v3_fixed_examples();    // candle-flash-attn-v3
std::vector<Example> v3_varlen_examples();   // candle-flash-attn-v3
std::vector<Example> no_wrapper_examples();  // Wrapper::kNone

}  // namespace flashcheck
