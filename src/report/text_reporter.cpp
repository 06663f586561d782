#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "src/report/reporter.h"
#include "src/report/text_block.h"
#include "src/report/words.h"

namespace flashcheck {
namespace {

constexpr std::string_view kRed = "\x1b[31m", kGreen = "\x1b[32m", kYellow = "\x1b[33m",
                           kBold = "\x1b[1m", kPlain = "\x1b[0m";

class TextReporter : public Reporter {
 public:
  TextReporter(std::ostream& out, const TextStyle& style) : out_(out), style_(style) {}

  void on_begin(const RunHeader& header) override {
    command_ = header.program + ' ' + header.command;
    const bool is_default = header.device.empty() || header.device == "cpu";
    if (!is_default) command_ += " --device " + header.device;
  }

  void on_complaint(const LoadComplaint& complaint) override {
    head(complaint.source, kRed, complaint.finding.rule->code, complaint.finding.message);
    facts(complaint.finding, nullptr);
    out_ << '\n';
  }

  void on_case(const CaseReport& report) override {
    switch (report.status) {
      case Status::kPass:
        return passed(report);
      case Status::kSkipped:
        return skipped(report);
      case Status::kFail:
        return failed(report);
    }
  }

  void on_end(const Summary& summary) override {
    const std::string_view color = summary.num_failed + summary.num_complaints > 0 ? kRed : kGreen;
    std::string text = fmt::format("{} passed, {} failed, {} skipped", summary.num_passed,
                                   summary.num_failed, summary.num_skipped);
    std::string reasons;
    for (const auto& [name, count] : summary.skip_reasons) {
      reasons += fmt::format("{}{} {}", reasons.empty() ? "" : ", ", count, name);
    }
    if (!reasons.empty()) text += " (" + reasons + ")";
    if (summary.num_complaints > 0) {
      text += fmt::format(", {} complaint{} about case files", summary.num_complaints,
                          summary.num_complaints == 1 ? "" : "s");
    }
    if (summary.num_blind_spots > 0) {
      text += fmt::format(", {} blind spot{} (flashcheck lint --together names them)",
                          summary.num_blind_spots, summary.num_blind_spots == 1 ? "" : "s");
    }
    out_ << paint(color, text) << '\n';
  }

 private:
  std::string paint(std::string_view color, std::string_view text) const {
    if (!style_.color) return std::string(text);
    return fmt::format("{}{}{}", color, text, kPlain);
  }

  /// `file:line: CODE: message`, never wrapped: people search for it and copy it.
  void head(const CaseSource& source, std::string_view color, std::string_view code,
            std::string_view message) {
    out_ << paint(kBold, fmt::format("{}:{}:", printable(source.path), source.line)) << ' '
         << paint(color, code) << ": " << printable(message) << '\n';
  }

  void line(std::string_view label, std::string_view text) {
    out_ << labelled(label, printable(text), style_.width);
  }

  /// Where, why and what to do, of a finding. `c` is null for a file that is no case.
  void facts(const Finding& finding, const Case* c) {
    if (c && !finding.where.empty()) {
      const std::string place = describe_place(*c, finding.where);
      line("where", place.empty() ? finding.where : finding.where + " is " + place);
    }
    for (const std::string& detail : finding.details)
      out_ << "           " << printable(detail) << '\n';
    line("why", finding.rule->why);
    line("fix", finding.fix_text());
    if (c) line("source", finding.source_text());
  }

  /// What the wrapper does with the call: the first line of an error is the wrapper's own text.
  void speaker(const CaseReport& report) {
    const WrapperFunction& function = *report.c->function;
    if (function.wrapper == Wrapper::kNone) return;
    const std::string call = fmt::format("{} {}", name_of(function.wrapper), function.name);
    switch (report.outcome.kind) {
      case Outcome::Kind::kError:
        return line("says", call + ", as its error");
      case Outcome::Kind::kPanic:
        return line("says", call + ", as its panic");
      case Outcome::Kind::kLaunch:
        return line("accepted", "by " + call + ": no error is raised");
    }
  }

  /// The findings that decide the verdict, whole. What a run shows of a hazard is one line each:
  /// the hazard is the reason, and its fix is the one to follow.
  void blocks(const CaseReport& report, std::string_view color) {
    const std::vector<const Finding*> leading = leading_findings(report);
    if (leading.empty()) {
      head(report.c->source, color, name_of(report.verdict), sound_sentence(report));
    }
    for (const Finding* finding : leading) {
      if (report.verdict == Verdict::kHazard && is_of_the_run(report, *finding)) {
        line("shown", fmt::format("{}: {}", finding->rule->code, finding->message));
        continue;
      }
      head(report.c->source, color, finding->rule->code, finding->message);
      if (finding == leading.front()) speaker(report);
      facts(*finding, report.c);
    }
  }

  static bool is_of_the_run(const CaseReport& report, const Finding& finding) {
    return std::any_of(report.findings.begin(), report.findings.end(),
                       [&](const Finding& other) { return &other == &finding; });
  }

  void numbers(const CaseReport& report) {
    if (!report.comparison) return;
    const bool is_hazard = report.verdict == Verdict::kHazard && !report.judged_dump;
    line("numbers",
         (is_hazard ? "of flashcheck's own kernel, which may not share the fault: " : "") +
             numbers_sentence(*report.comparison));
  }

  /// What else was found: later checks that would fail, and information.
  void also(const CaseReport& report) {
    for (const Finding* finding : findings_after_that(report)) {
      line("then", fmt::format("{}: {} (fix: {})", finding->rule->code, finding->message,
                               finding->fix_text()));
    }
    for (const Finding* finding : information(report)) {
      line("note", fmt::format("{}: {}", finding->rule->code, finding->message));
    }
  }

  void tail(const CaseReport& report) {
    also(report);
    for (const Unmet& unmet : report.unmet) {
      line("expected", fmt::format("{}: {}", unmet.what, unmet.expected));
      line("got", unmet.actual);
    }
    numbers(report);
    if (!report.c->note.empty()) line("case", report.c->note);
    if (report.c->source.path != "-") {  // whole, for copying
      out_ << "  repeat   " << printable(repeat_command(report, command_)) << '\n';
    }
    out_ << '\n';
  }

  void failed(const CaseReport& report) {
    blocks(report, kRed);
    tail(report);
  }

  void skipped(const CaseReport& report) {
    if (report.c->expect && !style_.verbose) return;  // counted in the summary, with the reason
    for (const Finding* finding : leading_findings(report)) {
      head(report.c->source, kYellow, finding->rule->code, finding->message);
      facts(*finding, report.c);
    }
    tail(report);
  }

  void passed(const CaseReport& report) {
    if (report.c->expect && !style_.verbose) return;
    blocks(report, kGreen);
    line("case", report.c->id + (report.c->expect ? ", as expected" : ""));
    also(report);
    out_ << '\n';
  }

  std::ostream& out_;
  TextStyle style_;
  std::string command_ = "flashcheck run";
};

}  // namespace

std::unique_ptr<Reporter> make_text_reporter(std::ostream& out, const TextStyle& style) {
  return std::make_unique<TextReporter>(out, style);
}

}  // namespace flashcheck
