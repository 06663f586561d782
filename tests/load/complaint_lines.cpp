#include "tests/load/complaint_lines.h"

#include <doctest/doctest.h>

namespace flashcheck {
namespace {

constexpr std::string_view kDocument = R"({
  "schema": 1,
  "wrapper": "candle-flash-attn",
  "function": "flash_attn_varlen_paged_windowed",
  "storages": {"pool": {"elements": 32768}},
  "tensors": {
    "q": {"dtype": "f16", "shape": [4, 2, 64]},
    "k": {"dtype": "f16", "shape": [4, 32, 2, 64], "strides": [8192, 128, 64, 1], "storage": "pool"},
    "v": {"dtype": "f16", "shape": [4, 32, 2, 64], "strides": [8192, 128, 64, 1], "storage": "pool", "offset": 4096},
    "seqlens_q": {"dtype": "u32", "shape": [2], "values": [0, 4]},
    "seqlens_k": {"dtype": "u32", "shape": [2], "values": [0, 40]},
    "block_table": {"dtype": "u32", "shape": [1, 2], "values": [[3, 1]]}
  },
  "args": {"max_seqlen_q": 4, "max_seqlen_k": 40, "softmax_scale": 0.125, "page_block_size": 32},
  "expect": {"verdict": "ok"}
}
)";

}  // namespace

std::vector<std::string> lines_of(const std::vector<LoadComplaint>& complaints) {
  std::vector<std::string> lines;
  for (const auto& [source, finding] : complaints) {
    lines.push_back(std::to_string(source.line) + ": " + std::string(finding.rule->code) + ": " +
                    finding.message);
    lines.insert(lines.end(), finding.details.begin(), finding.details.end());
  }
  return lines;
}

std::vector<std::string> complaints_of(std::string_view text) {
  const LoadResult result = load_text(text, "case.json", false);
  CHECK(result.cases.empty() == !result.complaints.empty());
  return lines_of(result.complaints);
}

std::string document_with(std::string_view from, std::string_view to) {
  std::string text(kDocument);
  const size_t at = text.find(from);
  REQUIRE(at != std::string::npos);
  return text.replace(at, from.size(), to);
}

}  // namespace flashcheck
