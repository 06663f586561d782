#include "src/load/expect_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <string>
#include <string_view>
#include <vector>

#include "src/load/case_file_rules.h"
#include "src/load/case_keys.h"
#include "src/load/json_reader.h"
#include "src/spec/launch_params.h"

namespace flashcheck {
namespace {

/// The launch parameters of a wrapper, each with a value of its type (a null pointer's: nothing).
struct LaunchSchema {
  std::vector<LaunchField> fields;
  std::vector<std::string_view> keys;
};

LaunchSchema make_schema(Wrapper wrapper) {
  LaunchSchema schema{launch_fields(LaunchParams{.wrapper = wrapper}), {}};
  for (const LaunchField& field : schema.fields) schema.keys.push_back(field.name);
  return schema;
}

const LaunchSchema& schema_of(Wrapper wrapper) {
  static const LaunchSchema v2 = make_schema(Wrapper::kCandleFlashAttn);
  static const LaunchSchema v3 = make_schema(Wrapper::kCandleFlashAttnV3);
  return wrapper == Wrapper::kCandleFlashAttnV3 ? v3 : v2;
}

/// Reads a value of the type that `like` has; floats are f32, as the wrapper passes them.
std::optional<LaunchValue> read_launch_value(const JsonValue& value, const LaunchValue& like,
                                             Complaints& complaints) {
  if (std::holds_alternative<bool>(like)) {
    const std::optional<bool> flag = read_bool(value, complaints);
    return flag ? std::optional<LaunchValue>(*flag) : std::nullopt;
  }
  if (std::holds_alternative<double>(like)) {
    const std::optional<float> real = read_f32(value, complaints);
    return real ? std::optional<LaunchValue>(static_cast<double>(*real)) : std::nullopt;
  }
  if (std::holds_alternative<std::monostate>(like) && value.is_null()) return std::monostate{};
  const std::optional<int64_t> integer = read_integer(
      value, std::numeric_limits<int64_t>::min(), std::numeric_limits<int64_t>::max(), complaints);
  return integer ? std::optional<LaunchValue>(*integer) : std::nullopt;
}

bool read_launch(const JsonValue& object, Wrapper wrapper, std::vector<LaunchField>& launch,
                 Complaints& complaints) {
  if (!expect_object(object, complaints)) return false;
  const LaunchSchema& schema = schema_of(wrapper);
  bool is_good = true;
  launch.reserve(object.children.size());
  size_t next = 0;  // files that a tool wrote have the schema's order
  for (const JsonValue* member : object.children) {
    if (next >= schema.keys.size() || schema.keys[next] != member->key) {
      next = static_cast<size_t>(std::find(schema.keys.begin(), schema.keys.end(), member->key) -
                                 schema.keys.begin());
    }
    if (next == schema.keys.size()) {
      complaints.add_unknown(complaint::kUnknownKey, *member, schema.keys, member->key);
      is_good = false;
      continue;
    }
    const LaunchField& field = schema.fields[next++];
    std::optional<LaunchValue> value = read_launch_value(*member, field.value, complaints);
    if (value) {
      launch.push_back({field.name, *value});
    } else {
      is_good = false;
    }
  }
  return is_good;
}

/// Whether `value` is a code such as "FC-H012".
bool expect_code(const JsonValue& value, char kind, Complaints& complaints) {
  const std::string prefix = fmt::format("FC-{}", kind);
  const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
  if (value.is_string() && value.text.size() == 7 && value.text.starts_with(prefix) &&
      std::all_of(value.text.begin() + 4, value.text.end(), is_digit)) {
    return true;
  }
  complaints.add(complaint::kWrongForm, value, fmt::format("a code {}nnn", prefix),
                 describe(value, complaints.text()));
  return false;
}

bool read_hazards(const JsonValue& array, std::vector<std::string>& hazards,
                  Complaints& complaints) {
  if (!expect_array(array, complaints)) return false;
  for (const JsonValue* child : array.children) {
    if (!expect_code(*child, 'H', complaints)) return false;
    if (std::find(hazards.begin(), hazards.end(), child->text) != hazards.end()) {
      complaints.add(complaint::kContradiction, *child, "each code once",
                     in_quotes(child->text) + " again");
      return false;
    }
    hazards.emplace_back(child->text);
  }
  return true;
}

/// A set of verdicts, a bit each.
using Verdicts = uint32_t;
constexpr Verdicts only(Verdict verdict) { return Verdicts{1} << static_cast<int>(verdict); }
constexpr Verdicts kAnyVerdict = (Verdicts{1} << kVerdicts.size()) - 1;

std::string listed(Verdicts verdicts) {
  std::vector<std::string_view> names;
  for (size_t i = 0; i < kVerdicts.size(); ++i) {
    if (verdicts & only(static_cast<Verdict>(i))) names.push_back(kVerdicts[i]);
  }
  return fmt::format("{}", fmt::join(names, " or "));
}

/// Whether some verdict satisfies all demands; a complaint at the first that leaves none.
bool expect_consistent(const JsonValue& object, const Expect& expect, Complaints& complaints) {
  Verdicts possible = kAnyVerdict;
  const auto demand = [&](bool is_given, std::string_view key, Verdicts verdicts) {
    if (!is_given || possible == 0) return;
    if ((possible & verdicts) == 0) {
      complaints.add_member(
          complaint::kContradiction, object, key,
          "nothing that contradicts the verdict " + listed(possible),
          fmt::format("`{}`, which needs {}", key,
                      std::popcount(verdicts) > 2 ? "another" : listed(verdicts)));
    }
    possible &= verdicts;
  };
  constexpr Verdicts kHazard = only(Verdict::kHazard);
  constexpr Verdicts kRefused =
      only(Verdict::kError) | only(Verdict::kPanic) | only(Verdict::kInvalid);
  if (expect.verdict) possible = only(*expect.verdict);
  demand(expect.error.has_value(), "error", only(Verdict::kError));
  demand(expect.panic.has_value(), "panic", only(Verdict::kPanic));
  demand(expect.hazards.has_value(), "hazards",
         expect.hazards && expect.hazards->empty() ? kAnyVerdict & ~kHazard : kHazard);
  demand(!expect.launch.empty(), "launch", kAnyVerdict & ~kRefused);
  demand(expect.cause.has_value(), "cause", only(Verdict::kMismatch) | kHazard);
  return possible != 0;
}

}  // namespace

std::span<const std::string_view> launch_keys(Wrapper wrapper) { return schema_of(wrapper).keys; }

std::optional<Expect> read_expect(const JsonValue& object, Wrapper wrapper,
                                  Complaints& complaints) {
  if (!expect_object(object, complaints)) return std::nullopt;
  bool is_good = expect_keys(object, kExpectKeys, complaints);
  Expect expect;
  if (const JsonValue* given = object.find("verdict")) {
    const std::optional<size_t> verdict = read_word(*given, kVerdicts, complaints);
    is_good = is_good && verdict;
    if (verdict) expect.verdict = static_cast<Verdict>(*verdict);
  }
  const auto read_text = [&](std::string_view key, std::optional<std::string>& text) {
    const JsonValue* given = object.find(key);
    if (!given) return;
    text = read_string(*given, complaints);
    is_good = is_good && text;
  };
  read_text("error", expect.error);
  read_text("panic", expect.panic);
  if (const JsonValue* given = object.find("hazards")) {
    is_good = read_hazards(*given, expect.hazards.emplace(), complaints) && is_good;
  }
  if (const JsonValue* given = object.find("launch")) {
    is_good = read_launch(*given, wrapper, expect.launch, complaints) && is_good;
  }
  if (const JsonValue* given = object.find("cause")) {
    is_good = expect_code(*given, 'M', complaints) && is_good;
    if (given->is_string()) expect.cause = given->text;
  }
  if (!is_good) return std::nullopt;
  const bool demands_nothing =
      object.children.empty() ||
      (object.children.size() == 1 && object.find("launch") && expect.launch.empty());
  if (demands_nothing) {
    complaints.add(complaint::kMissingKey, object, "at least one demand", "none");
    return std::nullopt;
  }
  if (!expect_consistent(object, expect, complaints)) return std::nullopt;
  return expect;
}

}  // namespace flashcheck
