// Holds every #include below src/, kernels/ and reference/ against one table of who may include
// whom. An arrow that is missing there is missing on purpose: values flow one way.

#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace {

namespace fs = std::filesystem;

struct Layer {
  std::string_view path;                      // a folder, or the stem of a file and its header
  std::vector<std::string_view> may_include;  // folders or headers; itself it always may
};

const std::vector<Layer> kLayers = {
    // What is asked, as plain values.
    {"src/exit_status.", {}},
    {"src/version.", {}},
    {"src/spec/", {}},
    // The stages, which know the values and not each other.
    {"src/layouts/", {"src/spec/", "fmt/"}},
    {"src/load/",
     {"src/layouts/", "src/spec/", "nlohmann/", "fmt/", "fcntl.h", "sys/", "unistd.h"}},
    {"src/contract/", {"src/spec/", "fmt/"}},
    {"src/hazards/", {"src/spec/", "fmt/"}},
    {"src/inputs/", {"src/spec/", "fmt/"}},
    // The suspect and the truth, which share nothing but the words of the question.
    {"kernels/cuda/",
     {"src/spec/dtype.h", "src/spec/launch_params.h", "kernels/", "cuda_runtime.h",
      "cuda_runtime_api.h"}},
    {"kernels/", {"src/spec/dtype.h", "src/spec/launch_params.h", "immintrin.h"}},
    {"reference/", {"src/spec/", "cblas.h", "cublas_v2.h", "cuda_runtime_api.h", "dlfcn.h"}},
    // The device of the one and the library of the other are one choice.
    {"src/run/", {"src/spec/", "src/compare/comparison.h", "kernels/", "reference/products.h"}},
    {"src/compare/", {"src/spec/", "reference/", "fmt/"}},
    {"src/diagnose/", {"src/spec/", "src/compare/", "reference/", "fmt/"}},
    // The pipeline.
    {"src/execution_rules.", {"src/spec/", "fmt/"}},
    {"src/check_case.",
     {"src/spec/", "src/contract/", "src/hazards/", "src/inputs/", "src/run/", "src/compare/",
      "src/diagnose/", "src/execution_rules.h", "src/expectation.h", "kernels/", "reference/",
      "fmt/"}},
    {"src/expectation.", {"src/spec/", "src/contract/", "src/check_case.h", "fmt/"}},
    // What tests could not have shown.
    {"src/lint/", {"src/spec/", "src/contract/", "src/hazards/", "src/inputs/", "fmt/"}},
    // What a person meets: the reports, and the registry of all that the stages can say.
    {"src/report/",
     {"src/spec/", "src/load/", "src/contract/", "src/hazards/", "src/inputs/", "src/compare/",
      "src/diagnose/", "src/lint/lint.h", "src/check_case.h", "src/execution_rules.h",
      "src/version.h", "nlohmann/", "fmt/"}},
    // What is asked of a call beside the verdict: pictures.
    {"src/map/", {"src/spec/", "src/report/text_block.h", "reference/visible_keys.h", "fmt/"}},
    {"src/cli/",
     {"src/spec/",
      "src/layouts/",
      "src/load/",
      "src/contract/",
      "src/hazards/",
      "src/inputs/inputs.h",
      "src/compare/",
      "src/diagnose/",
      "src/lint/lint.h",
      "src/map/",
      "src/expectation.h",
      "src/report/",
      "src/run/device_choice.h",
      "src/check_case.h",
      "src/execution_rules.h",
      "src/exit_status.h",
      "src/version.h",
      "kernels/",
      "CLI/",
      "fmt/",
      "fnmatch.h",
      "sys/",
      "unistd.h"}},
    {"src/main.", {"src/cli/", "src/exit_status.h"}},
};

bool is_source(const fs::path& path) {
  static const std::vector<std::string_view> kExtensions = {".cpp", ".cu", ".cuh", ".h", ".inl"};
  return std::ranges::find(kExtensions, path.extension().string()) != kExtensions.end();
}

/// The layer that `file` is part of, or null.
const Layer* layer_of(std::string_view file) {
  for (const Layer& layer : kLayers) {
    if (file.starts_with(layer.path)) return &layer;
  }
  return nullptr;
}

/// What stands between the quotes or brackets if `line` is an #include, else empty.
std::string_view included_header(std::string_view line) {
  const auto skip_blanks = [&line] {
    line.remove_prefix(std::min(line.find_first_not_of(" \t"), line.size()));
  };
  skip_blanks();
  if (!line.starts_with('#')) return {};
  line.remove_prefix(1);
  skip_blanks();
  if (!line.starts_with("include")) return {};
  const size_t open = line.find_first_of("<\"");
  if (open == std::string_view::npos) return {};
  line.remove_prefix(open + 1);
  return line.substr(0, line.find_first_of(">\""));
}

bool may_include(const Layer& layer, std::string_view header) {
  // Only the standard library's own headers have neither a folder nor an extension.
  if (header.find_first_of("/.") == std::string_view::npos) return true;
  if (header.starts_with(layer.path)) return true;
  for (const std::string_view allowed : layer.may_include) {
    if (allowed.ends_with('/') ? header.starts_with(allowed) : header == allowed) return true;
  }
  return false;
}

/// One sentence for each #include in `text` that the table does not allow to `file`.
std::vector<std::string> layering_faults(std::string_view file, std::string_view text) {
  const Layer* layer = layer_of(file);
  if (!layer) return {std::string(file) + ": is in no layer; give it one in kLayers"};
  std::string allowed = "the standard library, " + std::string(layer->path);
  for (const std::string_view header : layer->may_include) allowed.append(", ").append(header);

  std::vector<std::string> faults;
  std::istringstream lines{std::string(text)};
  std::string line;
  for (int number = 1; std::getline(lines, line); ++number) {
    const std::string_view header = included_header(line);
    if (header.empty() || may_include(*layer, header)) continue;
    std::ostringstream fault;
    fault << file << ':' << number << ": may not include " << header << "; allowed: " << allowed;
    faults.push_back(fault.str());
  }
  return faults;
}

}  // namespace

TEST_CASE("an include that the table allows is no fault") {
  CHECK(layering_faults("src/load/load.cpp",
                        "#include \"src/load/load.h\"\n\n#include <nlohmann/json.hpp>\n"
                        "#include <vector>\n#include \"src/spec/case.h\"\n")
            .empty());
  CHECK(layering_faults("reference/gemm.cpp", "  #  include <cblas.h>  // gold\n").empty());
  CHECK(layering_faults("kernels/cpu/tile.cpp", "#include \"src/spec/dtype.h\"\n").empty());
}

TEST_CASE("an include that the table does not allow is named with its line") {
  CHECK(layering_faults("src/spec/dtype.h", "#pragma once\n\n#include \"src/load/load.h\"\n") ==
        std::vector<std::string>{"src/spec/dtype.h:3: may not include src/load/load.h; allowed: "
                                 "the standard library, src/spec/"});
  const std::vector<std::pair<std::string, std::string>> forbidden = {
      {"kernels/mask.h", "#include \"reference/reference.h\""},
      {"kernels/mask.h", "#include \"src/spec/case.h\""},
      {"reference/reference.cpp", "#include \"kernels/mask.h\""},
      {"src/contract/contract.cpp", "#include <nlohmann/json.hpp>"},
      {"src/report/text.cpp", "#include <CLI/CLI.hpp>"},
      {"src/spec/case.cpp", "#include <fmt/format.h>"},
      {"src/compare/compare.cpp", "#include <cblas.h>"},
      {"src/hazards/hazards.cpp", "#include \"src/contract/contract.h\""},
      {"src/load/load.cpp", "#include \"load.h\""},
      {"src/main.cpp", "#include \"src/exit_status.hpp\""},
      {"kernels/cpu/tile.cpp", "#include <cuda_runtime.h>"},
      {"kernels/cuda/launch.cu", "#include <cublas_v2.h>"},
      {"kernels/cuda/launch.cu", "#include \"reference/products.h\""},
      {"src/run/run_kernel.cpp", "#include \"reference/reference.h\""},
  };
  for (const auto& pair : forbidden) {
    CAPTURE(pair.first);
    CAPTURE(pair.second);
    CHECK(layering_faults(pair.first, pair.second).size() == 1);
  }
}

TEST_CASE("a file in no layer is a fault") {
  CHECK(layering_faults("src/helpers/string.h", "").size() == 1);
}

TEST_CASE("every include of the tree is one that the table allows") {
  const fs::path root = FLASHCHECK_SOURCE_DIR;
  int files = 0;
  for (const char* folder : {"src", "kernels", "reference"}) {
    for (const fs::directory_entry& entry : fs::recursive_directory_iterator(root / folder)) {
      if (!is_source(entry.path())) continue;
      std::ifstream stream(entry.path(), std::ios::binary);
      const std::string text(std::istreambuf_iterator<char>(stream), {});
      REQUIRE(stream.good());
      ++files;
      for (const std::string& fault :
           layering_faults(entry.path().lexically_relative(root).generic_string(), text)) {
        FAIL_CHECK(fault);
      }
    }
  }
  CHECK(files > 40);
}
