#include <fmt/format.h>

#include <vector>

#include "src/report/reporter.h"
#include "src/report/words.h"

namespace flashcheck {
namespace {

/// Text for XML 1.0: markup escaped, characters that XML cannot hold replaced by '?'.
std::string escaped(std::string_view text) {
  std::string xml;
  for (char c : text) {
    switch (c) {
      case '&':
        xml += "&amp;";
        break;
      case '<':
        xml += "&lt;";
        break;
      case '>':
        xml += "&gt;";
        break;
      case '"':
        xml += "&quot;";
        break;
      case '\n':
        xml += "&#10;";
        break;
      case '\t':
        xml += "&#9;";
        break;
      default:
        xml += static_cast<unsigned char>(c) < 0x20 ? '?' : c;
    }
  }
  return xml;
}

struct Suite {
  std::string path;
  std::string testcases;
  int64_t tests = 0, failures = 0, errors = 0, skipped = 0;
  double seconds = 0;
};

/// A suite a file, in the order of the files; the counts come first in the format, so the whole is
/// written at the end.
class JunitReporter : public Reporter {
 public:
  explicit JunitReporter(std::ostream& out) : out_(out) {}

  void on_complaint(const LoadComplaint& complaint) override {
    Suite& suite = suite_of(complaint.source.path);
    ++suite.tests;
    ++suite.errors;
    suite.testcases += fmt::format(
        "    <testcase name=\"{0}:{1}\" classname=\"{0}\" time=\"0\">\n"
        "      <error type=\"{2}\" message=\"{3}\"/>\n    </testcase>\n",
        escaped(complaint.source.path), complaint.source.line, complaint.finding.rule->code,
        escaped(complaint.finding.message));
  }

  void on_case(const CaseReport& report) override {
    Suite& suite = suite_of(report.c->source.path);
    ++suite.tests;
    suite.seconds += report.seconds;
    const std::string open =
        fmt::format("    <testcase name=\"{}\" classname=\"{}\" time=\"{:.6f}\"",
                    escaped(report.c->id), escaped(report.c->source.path), report.seconds);
    if (report.status == Status::kPass) {
      suite.testcases += open + "/>\n";
      return;
    }
    const std::vector<const Finding*> leading = leading_findings(report);
    const std::string message = leading.empty() ? sound_sentence(report) : leading.front()->message;
    if (report.status == Status::kSkipped) {
      ++suite.skipped;
      suite.testcases += fmt::format("{}>\n      <skipped message=\"{}\"/>\n    </testcase>\n",
                                     open, escaped(leading.empty() ? "needs a run" : message));
      return;
    }
    ++suite.failures;
    suite.testcases += fmt::format(
        "{}>\n      <failure type=\"{}\" message=\"{}\">{}</failure>\n    </testcase>\n", open,
        leading.empty() ? name_of(report.verdict) : leading.front()->rule->code, escaped(message),
        escaped(explanation(report)));
  }

  void on_end(const Summary&) override {
    int64_t tests = 0, failures = 0, errors = 0, skipped = 0;
    for (const Suite& suite : suites_) {
      tests += suite.tests;
      failures += suite.failures;
      errors += suite.errors;
      skipped += suite.skipped;
    }
    out_ << fmt::format(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
        "<testsuites name=\"flashcheck\" tests=\"{}\" failures=\"{}\" errors=\"{}\" "
        "skipped=\"{}\">\n",
        tests, failures, errors, skipped);
    for (const Suite& suite : suites_) {
      out_ << fmt::format(
          "  <testsuite name=\"{}\" tests=\"{}\" failures=\"{}\" errors=\"{}\" skipped=\"{}\" "
          "time=\"{:.6f}\">\n{}  </testsuite>\n",
          escaped(suite.path), suite.tests, suite.failures, suite.errors, suite.skipped,
          suite.seconds, suite.testcases);
    }
    out_ << "</testsuites>\n";
  }

 private:
  Suite& suite_of(const std::string& path) {
    if (suites_.empty() || suites_.back().path != path) suites_.push_back({.path = path});
    return suites_.back();
  }

  static std::string explanation(const CaseReport& report) {
    std::string text;
    for (const Finding* finding : leading_findings(report)) {
      text += fmt::format("{}: {}\nwhy: {}\nfix: {}\n", finding->rule->code, finding->message,
                          finding->rule->why, finding->fix_text());
    }
    for (const Unmet& unmet : report.unmet) {
      text += fmt::format("expected {}: {}\ngot: {}\n", unmet.what, unmet.expected, unmet.actual);
    }
    return text;
  }

  std::ostream& out_;
  std::vector<Suite> suites_;
};

}  // namespace

std::unique_ptr<Reporter> make_junit_reporter(std::ostream& out) {
  return std::make_unique<JunitReporter>(out);
}

}  // namespace flashcheck
