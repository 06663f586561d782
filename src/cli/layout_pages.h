#pragma once

#include <string>

#include "src/layouts/layout.h"
#include "src/layouts/page_tables.h"

namespace flashcheck {

/// Every layout in a table, with the strides as formulas; then those that are no view, and why.
std::string layouts_list(int width);
/// One layout: what is known of it, an example in numbers, and the example for a case file.
std::string layout_page(const Layout& layout, int width);
/// A page table in every form, as the `from` of a case's block_table takes it.
std::string page_table_forms(const PageTable& table);

}  // namespace flashcheck
