#pragma once

#include <cstddef>
#include <memory_resource>
#include <string>
#include <string_view>
#include <vector>

#include "src/load/json_value.h"
#include "src/spec/finding.h"

namespace flashcheck {

/// What a document may ask for at most, so that no file can exhaust the stack, the memory or the
/// time of its reader.
struct JsonLimits {
  size_t max_depth = 64;
  size_t max_values = size_t{1} << 22;
  size_t max_keys = 256;  // of one object
};

/// What is wrong with a text as JSON.
struct JsonProblem {
  const Rule* rule = nullptr;
  size_t at = 0;      // bytes from the text's start
  std::string where;  // JSON pointer of the value, or of the array or object it would stand in
  std::string expected, got;
};

/// Reads a whole text as one JSON value (RFC 8259: no comments, no trailing commas, no NaN) into
/// `arena`, which must outlive it. Null if the text cannot be read to its end; a doubled key is a
/// problem too, but the rest is read (the first one counts). Throws std::bad_alloc alone.
/// Precondition: the text is shorter than 4 GiB.
const JsonValue* parse_json(std::string_view text, const JsonLimits& limits,
                            std::pmr::memory_resource& arena, std::vector<JsonProblem>& problems);

}  // namespace flashcheck
