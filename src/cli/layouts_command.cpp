#include <fmt/format.h>

#include <algorithm>
#include <iostream>
#include <string>
#include <variant>
#include <vector>

#include "src/cli/commands.h"
#include "src/cli/layout_pages.h"
#include "src/cli/selection.h"
#include "src/cli/terminal.h"
#include "src/contract/contract.h"
#include "src/contract/problem.h"
#include "src/hazards/hazards.h"
#include "src/inputs/inputs.h"
#include "src/report/reporter.h"
#include "src/report/text_block.h"
#include "src/spec/nearest.h"

namespace flashcheck {
namespace {

/// The page table of a call, or why there is none to show.
std::variant<PageTable, std::string> page_table_of(const Case& c) {
  if (!c.find(TensorName::kBlockTable)) return "has no block_table";
  const Outcome outcome = check_contract(c);
  if (!outcome.launch) return "is refused by the wrapper";
  const Inputs small = make_inputs(c, /*with_data=*/false);
  if (!find_hazards(c, *outcome.launch, small).is_memory_safe) {
    return "is not memory-safe (`flashcheck check` says why)";
  }
  const AttentionProblem problem = declared_problem(c, *outcome.launch, small);
  PageTable table{.page_block_size = problem.page_block_size, .rows = problem.block_table};
  for (size_t i = 0; i < problem.sequences.size(); ++i) {
    const int64_t length = problem.sequences[i].seqlen_k;
    table.seqlens.push_back(length);
    // What stands past the last page is never read, and no other form has it.
    const int64_t pages = (length + problem.page_block_size - 1) / problem.page_block_size;
    if (static_cast<size_t>(pages) > table.rows[i].size()) {
      return fmt::format("has {} pages for sequence {}, which needs {}", table.rows[i].size(), i,
                         pages);
    }
    table.rows[i].resize(static_cast<size_t>(pages));
  }
  return table;
}

ExitStatus print_page_tables(const std::vector<std::string>& paths) {
  const LoadResult loaded = load_selected(paths, {});
  const auto reporter = make_text_reporter(std::cout, {.width = text_width()});
  for (const LoadComplaint& complaint : loaded.complaints) reporter->on_complaint(complaint);
  bool is_any = false;
  for (const Case& c : loaded.cases) {
    std::variant<PageTable, std::string> found;
    try {
      found = page_table_of(c);
    } catch (const InputError& error) {
      found = "cannot be read: " + error.finding.message;
    }
    if (const auto* table = std::get_if<PageTable>(&found)) {
      std::cout << printable(c.id) << '\n' << page_table_forms(*table);
      is_any = true;
    } else {
      std::cerr << "flashcheck: " << printable(c.id) << ' ' << std::get<std::string>(found) << '\n';
    }
  }
  if (!loaded.complaints.empty()) return ExitStatus::kBadCaseFile;
  return is_any ? ExitStatus::kOk : ExitStatus::kNothingRan;
}

}  // namespace

ExitStatus layouts_command(const LayoutsOptions& options) {
  if (!options.tables.empty()) return print_page_tables(options.tables);
  if (options.names.empty()) std::cout << layouts_list(text_width());
  ExitStatus status = ExitStatus::kOk;
  bool is_first = true;
  for (const std::string& name : options.names) {
    if (const Layout* layout = find_layout(name)) {
      std::cout << (is_first ? "" : "\n") << layout_page(*layout, text_width());
      is_first = false;
      continue;
    }
    std::vector<std::string_view> known;
    for (const Layout& layout : layouts()) known.push_back(layout.name);
    std::cerr << fmt::format(
        "flashcheck: no layout is called {} (the nearest is {})\n`flashcheck layouts` lists them "
        "all.\n",
        printable(name), nearest_word(name, known));
    status = ExitStatus::kUsage;
  }
  return status;
}

}  // namespace flashcheck
