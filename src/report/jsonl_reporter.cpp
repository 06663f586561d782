#include <cmath>
#include <nlohmann/json.hpp>

#include "src/report/reporter.h"
#include "src/report/words.h"

namespace flashcheck {
namespace {

// Keys stay in the order they are written here: the same run gives the same bytes.
using Json = nlohmann::ordered_json;

/// JSON has no infinities and no NaN: they go out as the strings that case files take.
Json number(double value) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value > 0 ? "inf" : "-inf";
  return value;
}

Json to_json(const LaunchValue& value) {
  if (const auto* flag = std::get_if<bool>(&value)) return *flag;
  if (const auto* integer = std::get_if<int64_t>(&value)) return *integer;
  if (const auto* real = std::get_if<double>(&value)) return number(*real);
  return nullptr;
}

Json to_json(const Finding& finding) {
  Json args = Json::object();
  for (const FindingArg& arg : finding.args) args[arg.name] = arg.value;
  return {{"code", finding.rule->code},
          {"name", finding.rule->name},
          {"severity", name_of(finding.rule->severity)},
          {"message", finding.message},
          {"where", finding.where},
          {"args", args},
          {"details", finding.details},
          {"fix", finding.fix_text()},
          {"source", finding.source_text()}};
}

Json to_json(const std::vector<const Finding*>& findings) {
  Json array = Json::array();
  for (const Finding* finding : findings) array.push_back(to_json(*finding));
  return array;
}

Json to_json(const Comparison& n) {
  Json worst = Json::array();
  for (const Mismatch& m : n.worst) {
    worst.push_back({{"sequence", m.sequence},
                     {"head", m.head},
                     {"row", m.row},
                     {"column", m.column},
                     {"actual", number(m.actual)},
                     {"expected", number(m.expected)},
                     {"error", number(m.error)},
                     {"bound", number(m.bound)},
                     {"visible_pages", m.visible_pages}});
  }
  return {{"rows_checked", n.num_rows_checked},
          {"rows", n.num_rows},
          {"elements", n.num_elements},
          {"mismatched", n.num_mismatched},
          {"nonfinite", n.num_nonfinite},
          {"unwritten", n.num_unwritten},
          {"guard_bytes_changed", n.num_guard_bytes_changed},
          {"wrong_rows", n.num_wrong_rows},
          {"wrong_rows_of_head", n.wrong_rows_of_head},
          {"wrong_rows_of_sequence", n.wrong_rows_of_sequence},
          {"max_ratio", number(n.max_ratio)},
          {"median_ratio", number(n.median_ratio)},
          {"lse_checked", n.num_lse_checked},
          {"lse_mismatched", n.num_lse_mismatched},
          {"max_lse_ratio", number(n.max_lse_ratio)},
          {"fa2_ratio", n.fa2_ratio ? number(*n.fa2_ratio) : Json(nullptr)},
          {"statistical_outliers", n.num_statistical_outliers},
          {"worst", worst}};
}

Json to_json(const LaunchParams& launch) {
  Json object = Json::object();
  for (const LaunchField& field : launch_fields(launch)) object[field.name] = to_json(field.value);
  return object;
}

Json to_json(const CaseReport& report) {
  const WrapperFunction& function = *report.c->function;
  Json unmet = Json::array();
  for (const Unmet& demand : report.unmet) {
    unmet.push_back(
        {{"what", demand.what}, {"expected", demand.expected}, {"actual", demand.actual}});
  }
  Json record = {{"record", "test"},
                 {"id", report.c->id},
                 {"file", report.c->source.path},
                 {"line", report.c->source.line},
                 {"status", name_of(report.status)},
                 {"verdict", name_of(report.verdict)},
                 {"wrapper", name_of(function.wrapper)},
                 {"function", function.name},
                 {"findings", to_json(leading_findings(report))},
                 {"after_that", to_json(findings_after_that(report))},
                 {"information", to_json(information(report))},
                 {"unmet", unmet}};
  record["launch"] = report.outcome.launch ? to_json(*report.outcome.launch) : Json(nullptr);
  record["backend"] = report.ran ? Json(report.backend) : Json(nullptr);
  record["device"] = report.ran ? Json(report.device) : Json(nullptr);
  record["comparison"] = report.comparison ? to_json(*report.comparison) : Json(nullptr);
  record["seconds"] = report.seconds;
  return record;
}

class JsonlReporter : public Reporter {
 public:
  explicit JsonlReporter(std::ostream& out) : out_(out) {}

  void on_begin(const RunHeader& header) override {
    write({{"record", "header"},
           {"format", "flashcheck-results/1"},
           {"version", header.version},
           {"command", header.command},
           {"device", header.device.empty() ? Json(nullptr) : Json(header.device)}});
  }

  void on_complaint(const LoadComplaint& complaint) override {
    write({{"record", "complaint"},
           {"file", complaint.source.path},
           {"line", complaint.source.line},
           {"finding", to_json(complaint.finding)}});
  }

  void on_case(const CaseReport& report) override { write(to_json(report)); }

  void on_end(const Summary& summary) override {
    write({{"record", "summary"},
           {"passed", summary.num_passed},
           {"failed", summary.num_failed},
           {"skipped", summary.num_skipped},
           {"complaints", summary.num_complaints},
           {"blind_spots", summary.num_blind_spots},
           {"verdicts", summary.verdicts},
           {"skip_reasons", summary.skip_reasons}});
  }

 private:
  // A path or a message may hold bytes that are not UTF-8: replaced, not thrown at.
  void write(const Json& record) {
    out_ << record.dump(-1, ' ', false, Json::error_handler_t::replace) << '\n';
  }

  std::ostream& out_;
};

}  // namespace

std::unique_ptr<Reporter> make_jsonl_reporter(std::ostream& out) {
  return std::make_unique<JsonlReporter>(out);
}

}  // namespace flashcheck
