#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <ostream>
#include <string>
#include <string_view>
#include <vector>

#include "src/check_case.h"
#include "src/load/load.h"

namespace flashcheck {

/// What a run came to.
struct Summary {
  int64_t num_passed = 0, num_failed = 0, num_skipped = 0;
  int64_t num_complaints = 0;                   // of files that are no cases
  int64_t num_blind_spots = 0;                  // faults that the run could not have shown (FC-L)
  std::map<std::string, int64_t> skip_reasons;  // rule name -> cases
  std::map<std::string, int64_t> verdicts;      // verdict -> cases

  int64_t num_cases() const { return num_passed + num_failed + num_skipped; }
  void add(const CaseReport& report);
};

/// How the run was asked for; told in headers and repeated in commands.
struct RunHeader {
  std::string version;
  std::string command;                 // "run" or "check"
  std::string device;                  // of the kernel: "cpu", "cuda:0"; empty if none runs
  std::string program = "flashcheck";  // as the user calls it
};

/// Puts a run into words, in order of file and test. Reads reports, changes nothing.
class Reporter {
 public:
  virtual ~Reporter() = default;
  virtual void on_begin(const RunHeader&) {}
  virtual void on_complaint(const LoadComplaint& complaint) = 0;
  virtual void on_case(const CaseReport& report) = 0;
  virtual void on_end(const Summary& summary) = 0;
};

struct TextStyle {
  bool color = false;
  int width = 100;       // columns that running text is wrapped to
  bool verbose = false;  // passing cases too, with their numbers
};

/// For people: quiet on what passes, a failure's first line is `file:line: CODE: message`.
std::unique_ptr<Reporter> make_text_reporter(std::ostream& out, const TextStyle& style);
/// A header record, a record a case, a summary record (docs/output.md).
std::unique_ptr<Reporter> make_jsonl_reporter(std::ostream& out);
/// JUnit XML: a suite a file, a testcase a case.
std::unique_ptr<Reporter> make_junit_reporter(std::ostream& out);

}  // namespace flashcheck
