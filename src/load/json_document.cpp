#include "src/load/json_document.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <iterator>
#include <nlohmann/json.hpp>
#include <unordered_set>

#include "src/load/case_file_rules.h"
#include "src/load/json_syntax.h"

namespace flashcheck {
namespace {

/// How far the lexer has read. nlohmann_json tells a handler of values but not where they stand.
struct Progress {
  const char* at;
  bool hit_end = false;
};

/// Feeds the lexer and keeps `Progress` up to date.
class TrackedIterator {
 public:
  using iterator_category = std::input_iterator_tag;
  using value_type = char;
  using difference_type = std::ptrdiff_t;
  using pointer = const char*;
  using reference = const char&;

  TrackedIterator(const char* at, Progress* progress) : at_(at), progress_(progress) {}
  reference operator*() const { return *at_; }
  TrackedIterator& operator++() {
    progress_->at = ++at_;
    return *this;
  }
  const char* at() const { return at_; }
  TrackedIterator operator++(int) {
    TrackedIterator before = *this;
    ++*this;
    return before;
  }
  bool operator==(const TrackedIterator& other) const {
    if (at_ != other.at_) return false;
    progress_->hit_end = true;
    return true;
  }

 private:
  const char* at_;
  Progress* progress_;
};

/// Builds JsonValues from the events of nlohmann_json's parser; returns false to stop it.
class Builder {
 public:
  using Json = nlohmann::json;

  Builder(std::string_view text, const JsonLimits& limits, std::pmr::memory_resource& arena,
          const Progress& progress, std::vector<JsonProblem>& problems)
      : text_(text), limits_(limits), arena_(arena), progress_(progress), problems_(problems) {}

  const JsonValue* root() const { return root_; }

  bool null() { return add(JsonValue::Kind::kNull, here()) != nullptr; }
  bool boolean(bool value) {
    JsonValue* added = add(JsonValue::Kind::kBool, here());
    if (added) added->boolean = value;
    return added;
  }
  bool number_integer(int64_t value) {
    // The lexer calls only literals with a minus sign so: a zero is -0, which no integer is.
    if (value == 0) return number_float(-0.0, "");
    return integer(value);
  }
  bool number_unsigned(uint64_t value) {
    if (value <= static_cast<uint64_t>(INT64_MAX)) return integer(static_cast<int64_t>(value));
    JsonValue* added = add(JsonValue::Kind::kUnsigned, end_of_number());
    if (added) added->unsigned_integer = value;
    return added;
  }
  bool number_float(double value, const std::string& literal) {
    JsonValue* added = add(JsonValue::Kind::kReal, end_of_number());
    if (!added) return false;
    added->real = value;
    // 1e-400 would silently become 0.
    const std::string_view digits =
        std::string_view(literal).substr(0, literal.find_first_of("eE"));
    if (value == 0 && digits.find_first_of("123456789") != std::string_view::npos) {
      report(complaint::kNumberOutOfRange, added->end, where_last(),
             "0 or a number of at least 5e-324 in magnitude", literal);
    }
    return true;
  }
  bool string(std::string& value) {
    JsonValue* added = add(JsonValue::Kind::kString, here());
    if (added) added->text = keep(value);
    return added;
  }
  bool binary(Json::binary_t&) { return false; }
  bool start_object(std::size_t) { return open(JsonValue::Kind::kObject); }
  bool start_array(std::size_t) { return open(JsonValue::Kind::kArray); }
  bool end_array() { return close(); }
  bool end_object() {
    report_doubled_keys();
    return close();
  }
  bool key(std::string& name) {
    last_ = JsonEvent::kKey;
    last_end_ = here();
    key_ = keep(name);
    if (scratch_.size() - open_.back().first_child < limits_.max_keys) return true;
    report(complaint::kTooLarge, last_end_, where_open(),
           fmt::format("at most {} keys in an object", limits_.max_keys), "more");
    return false;
  }
  bool parse_error(std::size_t, const std::string& token,
                   const nlohmann::detail::exception& error) {
    constexpr int kNumberOverflow = 406;
    if (error.id == kNumberOverflow) {
      report(complaint::kNumberOutOfRange, end_of_number(), where_next(),
             "a number of at most 1.7976931348623157e+308 in magnitude", token);
    } else {
      report_syntax();
    }
    return false;
  }
  /// The text cannot go on as it does after the last event.
  void report_syntax() {
    const bool in_object = !open_.empty() && open_.back().value->is_object();
    const JsonContext context{last_, open_.empty(), in_object};
    const size_t stop = static_cast<size_t>(progress_.at - text_.data());
    JsonSyntaxError error = explain_syntax(text_, last_end_, stop, context);
    std::string where = error.at < last_end_ ? where_last() : where_next();
    report(complaint::kNotJson, error.at, std::move(where), std::move(error.expected),
           std::move(error.got));
  }

 private:
  struct Open {
    JsonValue* value;
    size_t first_child;  // in scratch_
  };

  size_t here() const { return static_cast<size_t>(progress_.at - text_.data()); }
  /// A number ends before the character that ended it.
  size_t end_of_number() const { return progress_.hit_end ? here() : here() - 1; }

  std::string_view keep(std::string_view text) {
    if (text.empty()) return {};
    char* copy = static_cast<char*>(arena_.allocate(text.size(), 1));
    std::memcpy(copy, text.data(), text.size());
    return {copy, text.size()};
  }

  bool integer(int64_t value) {
    JsonValue* added = add(JsonValue::Kind::kInteger, end_of_number());
    if (added) added->integer = value;
    return added;
  }

  /// Null, and a problem, if there are too many values.
  JsonValue* add(JsonValue::Kind kind, size_t end) {
    last_ = JsonEvent::kValue;
    last_end_ = end;
    if (++num_values_ > limits_.max_values) {
      report(complaint::kTooLarge, end, where_next(),
             fmt::format("at most {} values in a document", limits_.max_values), "more");
      return nullptr;
    }
    auto* value = new (arena_.allocate(sizeof(JsonValue), alignof(JsonValue))) JsonValue;
    value->kind = kind;
    value->end = static_cast<uint32_t>(end);
    if (open_.empty()) {
      root_ = value;
      return value;
    }
    value->parent = open_.back().value;
    if (value->parent->is_object()) value->key = key_;
    scratch_.push_back(value);
    return value;
  }

  bool open(JsonValue::Kind kind) {
    JsonValue* value = add(kind, here());
    if (!value) return false;
    last_ = JsonEvent::kOpen;
    open_.push_back({value, scratch_.size()});
    if (open_.size() <= limits_.max_depth) return true;
    report(complaint::kTooDeep, here(), "", fmt::format("at most {} levels", limits_.max_depth),
           "more");
    return false;
  }

  bool close() {
    const auto [value, first] = open_.back();
    open_.pop_back();
    const size_t count = scratch_.size() - first;
    if (count > 0) {
      auto* kept = static_cast<const JsonValue**>(
          arena_.allocate(count * sizeof(const JsonValue*), alignof(const JsonValue*)));
      std::copy_n(scratch_.data() + first, count, kept);
      value->children = {kept, count};
    }
    scratch_.resize(first);
    last_ = JsonEvent::kValue;
    last_end_ = here();
    return true;
  }

  void report_doubled_keys() {
    const auto members = std::span(scratch_).subspan(open_.back().first_child);
    const auto report_if = [&](bool is_doubled, const JsonValue& member) {
      if (!is_doubled) return;
      std::string where = where_open();
      append_pointer_token(where, member.key);
      report(complaint::kDoubledKey, member.end, std::move(where), "each key once",
             in_quotes(member.key) + " again");
    };
    constexpr size_t kFew = 48;
    if (members.size() <= kFew) {
      for (size_t i = 1; i < members.size(); ++i) {
        const auto before = members.first(i);
        report_if(std::any_of(before.begin(), before.end(),
                              [&](const JsonValue* m) { return m->key == members[i]->key; }),
                  *members[i]);
      }
      return;
    }
    std::unordered_set<std::string_view> seen;
    for (const JsonValue* member : members) report_if(!seen.insert(member->key).second, *member);
  }

  /// The pointer of the innermost open array or object.
  std::string where_open() const {
    std::string where;
    for (size_t i = 1; i < open_.size(); ++i) {
      // An open value was pushed just before its own children.
      append_last(where, open_[i - 1], open_[i].first_child - 1);
    }
    return where;
  }
  /// The pointer of the value that came last. Precondition: it is not closed yet, or a scalar.
  std::string where_last() const {
    std::string where = where_open();
    if (!open_.empty()) append_last(where, open_.back(), scratch_.size() - 1);
    return where;
  }
  /// The pointer of the value that would come next: a key's, or else what it would stand in.
  std::string where_next() const {
    std::string where = where_open();
    if (last_ == JsonEvent::kKey) append_pointer_token(where, key_);
    return where;
  }
  void append_last(std::string& where, const Open& parent, size_t child) const {
    append_pointer_token(where, parent.value->is_object()
                                    ? std::string(scratch_[child]->key)
                                    : std::to_string(child - parent.first_child));
  }

  void report(const Rule& rule, size_t at, std::string where, std::string expected,
              std::string got) {
    constexpr size_t kEnough = 100;
    if (problems_.size() >= kEnough) return;
    problems_.push_back({&rule, at, std::move(where), std::move(expected), std::move(got)});
  }

  std::string_view text_;
  const JsonLimits& limits_;
  std::pmr::memory_resource& arena_;
  const Progress& progress_;
  std::vector<JsonProblem>& problems_;

  const JsonValue* root_ = nullptr;
  std::vector<Open> open_;
  std::vector<const JsonValue*> scratch_;  // the children so far of everything open
  std::string_view key_;
  size_t num_values_ = 0;
  JsonEvent last_ = JsonEvent::kNone;
  size_t last_end_ = 0;
};

}  // namespace

const JsonValue* parse_json(std::string_view text, const JsonLimits& limits,
                            std::pmr::memory_resource& arena, std::vector<JsonProblem>& problems) {
  Progress progress{text.data()};
  Builder builder(text, limits, arena, progress, problems);
  const TrackedIterator begin(text.data(), &progress);
  const TrackedIterator end(text.data() + text.size(), &progress);
  if (!nlohmann::json::sax_parse(begin, end, &builder)) return nullptr;
  // The lexer takes a NUL for the end of the text.
  if (progress.at == end.at() && (text.empty() || text.back() != '\0')) return builder.root();
  builder.report_syntax();
  return nullptr;
}

}  // namespace flashcheck
