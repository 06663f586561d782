#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace flashcheck {

/// The last thing that a JSON parser understood.
enum class JsonEvent : uint8_t { kNone, kOpen, kKey, kValue };

/// Where it stood then.
struct JsonContext {
  JsonEvent last = JsonEvent::kNone;
  bool at_top = true;      // outside of every array and object
  bool in_object = false;  // else in an array
};

struct JsonSyntaxError {
  size_t at = 0;  // bytes from the text's start: the token that does not fit
  std::string expected, got;
};

/// Says in words why a text is not JSON. `last_end` is where the last event ended, `stop` where the
/// parser gave up (bytes from the text's start).
JsonSyntaxError explain_syntax(std::string_view text, size_t last_end, size_t stop,
                               const JsonContext& context);

}  // namespace flashcheck
