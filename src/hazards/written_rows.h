#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "src/hazards/hazard_context.h"

namespace flashcheck {

/// Rows [begin, end) of q and out.
struct RowSpan {
  int64_t begin = 0, end = 0;
};

/// The rows that `times` or more sequences of a varlen call write, ascending and apart; a sequence
/// of negative length writes none. Empty where the lengths are unknown.
std::vector<RowSpan> written_rows(const HazardContext& context, int64_t times);

/// The parts of `spans` inside `within`, and those of `within` outside all of them.
std::vector<RowSpan> inside(const std::vector<RowSpan>& spans, RowSpan within);
std::vector<RowSpan> outside(const std::vector<RowSpan>& spans, RowSpan within);

/// "0..3" or "0..3, 7..9", both ends inclusive; after four of them "…".
std::string text_of(const std::vector<RowSpan>& spans);

}  // namespace flashcheck
