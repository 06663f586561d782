#include "src/spec/finding.h"

#include <optional>
#include <stdexcept>
#include <utility>

namespace flashcheck {
namespace {

/// A template taken apart: the literal text before each placeholder, and the text after the last.
struct Piece {
  std::string literal;
  std::string placeholder;  // empty after the last
};

std::vector<Piece> pieces_of(std::string_view text) {
  std::vector<Piece> pieces(1);
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if ((c == '{' || c == '}') && i + 1 < text.size() && text[i + 1] == c) {
      pieces.back().literal += c;
      ++i;
    } else if (c == '{') {
      const size_t close = text.find('}', i);
      if (close == std::string_view::npos) throw std::logic_error("unclosed brace in a template");
      pieces.back().placeholder = text.substr(i + 1, close - i - 1);
      pieces.emplace_back();
      i = close;
    } else {
      pieces.back().literal += c;
    }
  }
  return pieces;
}

const std::string* find_arg(const std::vector<FindingArg>& args, std::string_view name) {
  for (const FindingArg& arg : args) {
    if (arg.name == name) return &arg.value;
  }
  return nullptr;
}

}  // namespace

std::string_view name_of(Severity severity) {
  switch (severity) {
    case Severity::kError:
      return "error";
    case Severity::kWarning:
      return "warning";
    case Severity::kInformation:
      return "information";
  }
  return "";
}

std::string fill_template(std::string_view text, const std::vector<FindingArg>& args) {
  std::string filled;
  for (const Piece& piece : pieces_of(text)) {
    filled += piece.literal;
    if (piece.placeholder.empty()) continue;
    const std::string* value = find_arg(args, piece.placeholder);
    if (!value) throw std::logic_error("no argument for {" + piece.placeholder + "}");
    filled += *value;
  }
  return filled;
}

bool match_template(std::string_view text, std::string_view message,
                    std::vector<FindingArg>& args) {
  const std::vector<Piece> pieces = pieces_of(text);
  if (!message.starts_with(pieces[0].literal)) return false;
  message.remove_prefix(pieces[0].literal.size());
  for (size_t i = 0; i + 1 < pieces.size(); ++i) {
    const std::string& next = pieces[i + 1].literal;
    const bool is_last = i + 2 == pieces.size();
    const size_t end = is_last ? message.size() - std::min(message.size(), next.size())
                               : message.find(next, next.empty() ? 0 : 1);
    if (end == std::string_view::npos || end == 0 || message.substr(end, next.size()) != next) {
      return false;
    }
    args.push_back({pieces[i].placeholder, std::string(message.substr(0, end))});
    message.remove_prefix(end + next.size());
  }
  return message.empty();
}

Finding make_finding(const Rule& rule, std::string where, std::vector<FindingArg> args) {
  Finding finding{.rule = &rule, .where = std::move(where), .args = std::move(args)};
  finding.message = fill_template(rule.message, finding.args);
  return finding;
}

}  // namespace flashcheck
